/* interrupt.h - what the launcher asks of interrupt.c. */
#ifndef MARE_BINDINGS_INTERRUPT_H
#define MARE_BINDINGS_INTERRUPT_H

#include <lua.h>

/* From now on signals that ask for an end are heeded, for the state that this thread runs. */
void interrupt_open(lua_State *L);

/* Adds to bindings.home, the table on top, what Lua asks about interrupts. */
void interrupt_fill_home(lua_State *L);

/* Comes before the state is closed: SIGINT and SIGTERM end the process again, SIGHUP is ignored. */
void interrupt_close(void);

#endif

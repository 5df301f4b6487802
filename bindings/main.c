/* main.c - the `mare` launcher: one LuaJIT state, Mare's paths, the end of output, exit status.
 * Signals are the work of interrupt.c; the rest is lua/mare/launcher/cli.lua.
 */
#include "engine.h"
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/* Fills bindings.home, which is on top. */
static void fill_home(lua_State *L) {
    char exe[PATH_MAX] = "";
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0)
        luaL_error(L, "/proc/self/exe: %s", strerror(errno));
    lua_pushstring(L, exe);
    lua_setfield(L, -2, "launcher");
    interrupt_fill_home(L);
}

/* Receives the arguments; returns the exit status of mare.cli. */
static int run(lua_State *L) {
    int count = lua_gettop(L);
    luaL_openlibs(L);
    mare_home_push(L, NULL);
    fill_home(L);
    lua_pop(L, 1);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "mare.launcher.cli");
    lua_call(L, 1, 1);
    lua_insert(L, 1);
    lua_call(L, count, 1);
    return 1;
}

/* Whether the message says that memory is lacking, which Lua also says of a module to load. */
static bool lacks_memory(lua_State *L) {
    static const char lack[] = "not enough memory";
    size_t size, end = sizeof lack - 1;
    const char *text = lua_tolstring(L, 1, &size);
    return text && size >= end && strcmp(text + size - end, lack) == 0;
}

static int traceback(lua_State *L) {
    if (lacks_memory(L)) {
        lua_pushliteral(L, "out of memory");
        return 1;
    }
    if (!lua_isstring(L, 1) && !luaL_callmeta(L, 1, "__tostring"))
        lua_pushliteral(L, "error without a message");
    luaL_traceback(L, L, lua_tostring(L, -1), 1);
    return 1;
}

static int run_protected(lua_State *L, int argc, char **argv) {
    lua_pushcfunction(L, traceback);
    lua_pushcfunction(L, run);
    for (int i = 1; i < argc; i++) lua_pushstring(L, argv[i]);
    int failed = lua_pcall(L, argc - 1, 1, 1);
    if (failed == 0) return (int)lua_tointeger(L, -1);
    /* Newer releases of LuaJIT call no handler for this one. */
    fprintf(stderr, "mare: %s\n", failed == LUA_ERRMEM ? "out of memory" : lua_tostring(L, -1));
    return EXIT_FAILURE;
}

/* A closed descriptor would be given to the next file opened. Standard output is opened the wrong
 * way round, so that printing to it still fails. */
static void fill_standard_descriptors(void) {
    static const int modes[] = { O_WRONLY, O_RDONLY, O_RDWR };
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        if (open("/dev/null", modes[fd]) != fd) _exit(EXIT_FAILURE);
    }
}

/* PoCL aborts where it cannot read in /sys what processors there are, unless it is told. */
static void describe_machine(void) {
    char text[96];
    if (access("/sys/devices/system/cpu", F_OK) == 0) return;
    snprintf(text, sizeof text, "numa:1(memory=%lld) pu:%ld",
             (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
             sysconf(_SC_NPROCESSORS_ONLN));
    setenv("HWLOC_SYNTHETIC", text, 0);
}

/* NVRTC takes some 7 MB for each program and gives them back: to get the same pages anew was a
 * seventh of its time. These are the limits that malloc would come to by itself (mallopt(3)). */
static void keep_memory(void) {
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

/* The one check of everything printed: a full disk, or a closed pipe, of which nobody wants to hear
 * (`mare --help | head -n 1`): the status is that of a program that SIGPIPE ended. */
static int finish_output(int status) {
    errno = 0;
    int failed = ferror(stdout) | fflush(stdout);
    if (!failed) return status;
    if (errno == EPIPE) return status == EXIT_SUCCESS ? 128 + SIGPIPE : status;
    fprintf(stderr, "mare: standard output: %s\n", errno ? strerror(errno) : "write failed");
    return status == EXIT_SUCCESS ? EXIT_FAILURE : status;
}

static int last_status;

static void leave(int number) {
    (void)number;
    _exit(last_status);
}

/* Who has asked for the end by a signal does not wait for what is queued on a device, which PoCL
 * wants to end before its process does. */
static int hasten_end(int status) {
    if (status != 128 + SIGINT && status != 128 + SIGTERM && status != 128 + SIGHUP) return status;
    last_status = finish_output(status);
    signal(SIGALRM, leave);
    setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_usec = 200000 }, NULL);
    return status;
}

int main(int argc, char **argv) {
    fill_standard_descriptors();
    describe_machine();
    keep_memory();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);   /* a limit of size (ulimit -f) is an error as a full disk is */
    lua_State *state = luaL_newstate();
    if (!state) {
        fputs("mare: out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    interrupt_open(state);
    int status = run_protected(state, argc, argv);
    interrupt_close();
    status = hasten_end(status);
    lua_close(state);
    return finish_output(status);
}

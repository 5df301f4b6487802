/* interrupt.c - Ctrl-C and what else asks the launcher to end.
 *
 * The first Ctrl-C (SIGINT, SIGTERM, SIGHUP) sets a flag for home.interrupted(): a run ends
 * there, with a checkpoint if it takes any; without, it leaves nothing under the names of its
 * files. A script that runs on for GRACE ms without asking gets an error from a hook, and another
 * one, sooner each time, where it catches that and runs on. A third of that time at least passes
 * from when Lua is seen to run after the signal: a step that waited for a device gets to ask.
 *
 * LuaJIT tests no hooks in compiled code. For what is typed (a session, -e, -) its profiler is
 * therefore armed in line mode, never to sample: every trace then looks at one byte for each line
 * of Lua, and raising SIGPROF sets that byte. A script would pay for it (filling the state of
 * 1024^2 cells took 0.24 s without and 0.37 to 0.43 s with it, on two busy cores). Its launches,
 * waits and downloads look at the flag instead. A compiled loop that calls none of them is ended
 * by a timer that finds the program counter in compiled code all the time.
 *
 * C that computes and does not return, as libhdf5 in a loop on a damaged file, is ended by the next
 * signal, or by a SIGTERM or SIGHUP alone: what sends those, as a batch system, sends no more. It
 * gets BUSY_LIMIT of processor time of this thread: to wait for a device or a disk costs none, and
 * a checkpoint under way is worth its time. What waits for ever gets IDLE_LIMIT.
 *
 * What asks for an end may send its signal twice: GNU timeout sends one to its child and, at once,
 * one to the group that the child is in. A repeat counts where it comes late enough to be meant.
 */
#include "interrupt.h"
#include "mapping.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <luajit.h>

/* Milliseconds that a script or what is typed may run on, so that it has stopped within 1 s or
 * 0.2 s; VM instructions between two looks */
enum { GRACE = 700, TYPED_GRACE = 140, LOOK = 100 };

/* Milliseconds between two looks of the timer, and how many find compiled code before it acts */
enum { TICK = 20, TICKS = 5 };

/* Milliseconds after which one who waits for C is told */
enum { SILENCE = GRACE - TICK * TICKS };

/* Milliseconds that C may go on after a SIGTERM or SIGHUP, of processor time and of any time */
enum { BUSY_LIMIT = 5000, IDLE_LIMIT = 60000 };

/* Milliseconds: repeats that come sooner are one signal, from a keyboard and from a program */
enum { KEY_REPEAT = 100, REPEAT = 1000 };

static lua_State *state;
static pthread_t thread;        /* runs it */
static int nothing;             /* a reference to a function that does nothing */
static volatile sig_atomic_t interrupted;       /* a signal came and nobody has asked for another */
static volatile sig_atomic_t patience;  /* 1: it has not been answered; 2: and this was said */
static volatile sig_atomic_t pursued;   /* it was not asked about: the hook is to end the script */
static volatile sig_atomic_t armed;             /* compiled code looks */
static volatile sig_atomic_t held;              /* no hook: Lua is called back from C */
static volatile int64_t ends_at;        /* milliseconds; 0: Lua was not yet seen to run on */
static int grace, look;         /* less each time: a script may catch the error and run on */
static int slowed;              /* LuaJIT is kept out of compiled code */
static int ticks;               /* of the timer in compiled code, one after the other */
static int lives = 1;           /* signals that nobody need answer before one kills */
static volatile sig_atomic_t unanswered;
static volatile int64_t counted_at;     /* milliseconds: the last of those */
static volatile int64_t busy_before;    /* milliseconds of processor time: the same */

/* ---- signals ---- */

static int64_t milliseconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static int64_t milliseconds(void) {
    return milliseconds_of(CLOCK_MONOTONIC);
}

/* Drops what is being recorded for compilation now: LuaJIT does so at the next instruction, when
 * it crashes if that was to go on where another trace ended and all traces are gone since. */
static void end_recording(lua_State *L) {
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    lua_rawgeti(L, LUA_REGISTRYINDEX, nothing);
    lua_call(L, 0, 0);
}

/* Lua is seen to run for the first time. */
static void begin_grace(int64_t now) {
    ends_at = counted_at + grace > now + grace / 3 ? counted_at + grace : now + grace / 3;
}

static int raise_interrupt(lua_State *L) {
    lua_pushliteral(L, "interrupted");
    return lua_error(L);
}

/* In interpreted code now: keeps LuaJIT out of compiled code until the script has answered. */
static void stop_script(lua_State *L, lua_Debug *where) {
    (void)where;
    int64_t now = milliseconds();
    if (!slowed) {
        slowed = 1;
        lua_sethook(L, stop_script, LUA_MASKCOUNT, look);
        end_recording(L);
        luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
    }
    if (!ends_at) {
        begin_grace(now);
    } else if (now >= ends_at) {
        grace /= 8;
        ends_at = now + grace;
        look = look > 4 ? look / 4 : 1;
        lua_sethook(L, stop_script, LUA_MASKCOUNT, look);
        raise_interrupt(L);
    }
}

static void set_timer(int first) {
    struct itimerval timer = { .it_interval.tv_usec = TICK * 1000 };
    timer.it_value.tv_sec = first / 1000;
    timer.it_value.tv_usec = first % 1000 * 1000;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void stop_timer(void) {
    setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

/* Notes a signal that the script has all its time to answer. */
static void begin_pursuit(void) {
    pursued = 1;
    ends_at = 0;
    grace = armed ? TYPED_GRACE : GRACE;
    look = LOOK;
}

static void set_hook(void) {
    patience = 1;
    ticks = 0;
    lua_sethook(state, stop_script, LUA_MASKCOUNT, 1);
    if (armed) raise(SIGPROF);
    set_timer(SILENCE);
}

/* Ends the process as the signal does where nobody handles it. */
static void die(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

/* A signal comes to a thread of OpenCL, CUDA or HDF5, too: always where the first thread is in its
 * handler. LuaJIT's hook is for the thread that runs it only. */
static void on_signal(int number) {
    if (!pthread_equal(pthread_self(), thread)) {
        pthread_kill(thread, number);
        return;
    }
    int64_t now = milliseconds(), least = number == SIGINT ? KEY_REPEAT : REPEAT;
    if (unanswered && now - counted_at < least) return;
    if (unanswered >= lives) {
        die(number);
        return;
    }
    interrupted = number;
    counted_at = now;
    busy_before = milliseconds_of(CLOCK_THREAD_CPUTIME_ID);
    unanswered++;
    begin_pursuit();
    if (!held) set_hook();
}

/* Whether this is code that LuaJIT has compiled, which lies in no file, LuaJIT's own or a
 * library's that such code calls. */
static bool is_compiled_lua(uintptr_t pc) {
    char line[PATH_MAX + 100], own[PATH_MAX + 100];
    if (!mapping_find(pc, line, sizeof line)) return false;
    bool has_name = strchr(line, '/') || strchr(line, '[');
    if (!has_name || strstr(line, "/libm.")) return true;
    return mapping_find((uintptr_t)lua_pcall, own, sizeof own) && !strcmp(line, own);
}

static uintptr_t program_counter(const ucontext_t *at) {
#if defined __x86_64__
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#else
    return (uintptr_t)at->uc_mcontext.pc;
#endif
}

/* Whether C has had its time after a signal that is not repeated. */
static int is_overdue(void) {
    if (interrupted == SIGINT) return 0;
    int64_t busy = milliseconds_of(CLOCK_THREAD_CPUTIME_ID) - busy_before;
    return busy >= BUSY_LIMIT || milliseconds() - counted_at >= IDLE_LIMIT;
}

static void say(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) patience = 0;
}

/* From 0.8 s after the signal on, until Lua answers: C that runs, as in a wait for a device, does
 * not stop, and compiled code of a script does not look. */
static void look_at_silence(const ucontext_t *at) {
    if (!interrupted || !patience) {
        stop_timer();
        return;
    }
    bool is_compiled = !armed && !ends_at && is_compiled_lua(program_counter(at));
    ticks = is_compiled ? ticks + 1 : 0;
    if (ticks == TICKS) die(interrupted);
    if (is_compiled) return;
    set_timer(200);
    if (is_overdue()) {
        say("mare: what runs in C does not end\n");
        die(interrupted);
    }
    if (patience > 1 || (ends_at && milliseconds() < ends_at + 200)) return;
    if (armed && interrupted == SIGINT) stop_timer();
    patience = 2;
    say("\nmare: waiting for what runs on a device or in C; more of Ctrl-C end Mare\n");
}

static void on_silence(int number, siginfo_t *info, void *at) {
    (void)info;
    const int before = errno;
    if (pthread_equal(pthread_self(), thread)) look_at_silence(at);
    else pthread_kill(thread, number);
    errno = before;
}

static void ignore_sample(void *data, lua_State *L, int samples, int vm_state) {
    (void)data, (void)L, (void)samples, (void)vm_state;
}

static void watch_signals(void) {
    struct sigaction action = { .sa_handler = on_signal };
    struct sigaction before;
    unanswered = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, NULL, &before);       /* which nohup ignores */
    if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
    struct sigaction silence = { .sa_sigaction = on_silence, .sa_flags = SA_RESTART | SA_SIGINFO };
    sigaction(SIGALRM, &silence, NULL);
}

/* home.stop_anywhere([lives]): from now on the first signal stops compiled code too, and only after
 * as many unanswered ones the next kills; 1 if not given. */
static int home_stop_anywhere(lua_State *L) {
    lives = (int)luaL_optinteger(L, 1, 1);
    luaJIT_profile_start(L, "li1000000000", ignore_sample, NULL);
    setitimer(ITIMER_PROF, &(struct itimerval){ 0 }, NULL); /* its signals come to any thread */
    armed = 1;
    return 0;
}

static void remove_hook(lua_State *L) {
    patience = 0;
    stop_timer();
    lua_sethook(L, NULL, 0, 0);
    luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_ON);
    slowed = 0;
}

static void leave_alone(lua_State *L) {
    pursued = 0;
    remove_hook(L);
}

/* After C that calls Lua back. A script that calls such C over and over has its time but once. One
 * whose time has passed in C gets to ask, for less each time. */
static void go_on_pursuing(lua_State *L) {
    int64_t now = milliseconds();
    set_hook();
    if (!ends_at) {
        begin_grace(now);
    } else if (now >= ends_at) {
        if (grace == 0) raise_interrupt(L);
        ends_at = now + grace / 3;
        grace /= 8;
    }
}

static void on_waking(int number) {
    (void)number;
}

/* With a handler a read ends with EINTR when a stopped process goes on; without, nobody is told. */
static void watch_waking(int on) {
    struct sigaction action = { .sa_handler = on ? on_waking : SIG_DFL };
    sigemptyset(&action.sa_mask);
    sigaction(SIGCONT, &action, NULL);
}

/* home.hold(on): until it is off a signal is only noted. For calls of C code that calls Lua back:
 * an error of the hook must not fly through that. Turning it off may raise. Returns what it was. */
static int home_hold(lua_State *L) {
    int before = held;
    held = lua_toboolean(L, 1);
    watch_waking(held);
    if (pursued && held) remove_hook(L);
    if (pursued && !held) go_on_pursuing(L);
    lua_pushboolean(L, before);
    return 1;
}

/* The message handler of home.call: the hook must not end the script's own. */
static int handle(lua_State *L) {
    if (interrupted) leave_alone(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* home.call(f, handler): xpcall(f, handler), after which the hook is off whatever came. */
static int home_call(lua_State *L) {
    lua_settop(L, 2);
    lua_pushcclosure(L, handle, 1);
    lua_insert(L, 1);
    int failed = lua_pcall(L, 0, LUA_MULTRET, 1);
    if (interrupted) leave_alone(L);
    lua_pushboolean(L, !failed);
    lua_replace(L, 1);
    return lua_gettop(L);
}

/* home.interrupted([again]): whether a signal came, and whether it was Ctrl-C; asking answers it,
 * so that the hook leaves the script alone. With `again` the signal is over and the next one counts
 * as the first. */
static int home_interrupted(lua_State *L) {
    int number = interrupted, answer = number != 0;
    if (answer) leave_alone(L);
    if (lua_toboolean(L, 1)) {
        if (answer) clearerr(stdout); /* a line cut short; a full disk tells again */
        interrupted = 0;
        watch_signals();
    }
    lua_pushboolean(L, answer);
    lua_pushboolean(L, number == SIGINT);
    return 2;
}

static void add_function(lua_State *L, const char *name, lua_CFunction f) {
    lua_pushcfunction(L, f);
    lua_setfield(L, -2, name);
}

void interrupt_fill_home(lua_State *L) {
    add_function(L, "interrupted", home_interrupted);
    add_function(L, "hold", home_hold);
    add_function(L, "call", home_call);
    add_function(L, "stop_anywhere", home_stop_anywhere);
    lua_pushlightuserdata(L, (void *)&interrupted);
    lua_setfield(L, -2, "signal");
    lua_pushlightuserdata(L, (void *)&armed);
    lua_setfield(L, -2, "typed");
    luaL_loadstring(L, "");
    nothing = luaL_ref(L, LUA_REGISTRYINDEX);
}

void interrupt_open(lua_State *L) {
    thread = pthread_self();
    state = L;
    watch_signals();
}

void interrupt_close(void) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_IGN);
    if (armed) luaJIT_profile_stop(state);
}

/* guard.c - calls a function and ends the C++ exceptions that come out of it, such as those of LLVM
 * where memory is short: no caller on a thread of core would catch one, and the process would end.
 *
 * C cannot catch exceptions, and core links no C++ library. But the unwinder asks the personality
 * of each stack frame whether an exception ends there, and an assembler directive gives that of
 * call() one that says yes and jumps back. `survives_exceptions` in tests/core/compile.c fails
 * without it. A handler of std::terminate would not do: it runs while the compiler still holds its
 * locks, and there is one for the whole process, which belongs to the embedding program.
 */
#include "internal.h"

#include <setjmp.h>
#include <unwind.h>

static _Thread_local jmp_buf landing; /* where an exception ends on this thread */

static _Unwind_Reason_Code personality(int version, _Unwind_Action actions,
                                       _Unwind_Exception_Class language,
                                       struct _Unwind_Exception *exception,
                                       struct _Unwind_Context *context) {
    (void)language, (void)context;
    if (version != 1) return _URC_FATAL_PHASE1_ERROR;
    if (actions & _UA_FORCE_UNWIND) return _URC_CONTINUE_UNWIND; /* the thread is cancelled */
    if (actions & _UA_SEARCH_PHASE) return _URC_HANDLER_FOUND;
    _Unwind_DeleteException(exception);
    longjmp(landing, 1);
}

/* Unwind tables name the personality by the place of this pointer, relative to theirs (0x9b). */
__attribute__((used, visibility("hidden"))) const _Unwind_Personality_Fn mr_guard_personality =
    personality;

static __attribute__((noinline)) void call(void (*function)(void *), void *argument) {
    /* "+r" hides which function it is, so that it is not inlined: it may have a personality. */
    __asm__ volatile(".cfi_personality 0x9b, mr_guard_personality" : "+r"(function));
    function(argument);
    __asm__ volatile(""); /* the call before it cannot become a jump out of here */
}

bool mr_guard(void (*function)(void *), void *argument) {
    if (setjmp(landing) != 0) return false;
    call(function, argument);
    return true;
}

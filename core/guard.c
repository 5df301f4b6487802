/* guard.c - calls a function out of which an exception of a C++ library may come, as LLVM's where
 * memory is short: on a thread of core nobody else would catch it, and the process would end.
 *
 * C has no way to catch one. The few instructions in between have a personality of their own: the
 * unwinder asks it in each stack frame, and it says that the exception ends here. Where these
 * instructions are not written for the processor the function is called as it is.
 */
#include "internal.h"

#include <unwind.h>

#if defined __x86_64__ || defined __aarch64__
#define HAS_GUARD 1
#endif

#ifdef HAS_GUARD
/* Returns 0, or 1 from mr_guard_landing where an exception came. */
int mr_guard_call(void (*function)(void *), void *argument);
extern const char mr_guard_landing[];

_Unwind_Reason_Code mr_guard_personality(int version, _Unwind_Action actions,
                                         _Unwind_Exception_Class language,
                                         struct _Unwind_Exception *exception,
                                         struct _Unwind_Context *context);

_Unwind_Reason_Code mr_guard_personality(int version, _Unwind_Action actions,
                                         _Unwind_Exception_Class language,
                                         struct _Unwind_Exception *exception,
                                         struct _Unwind_Context *context) {
    (void)language;
    if (version != 1) return _URC_FATAL_PHASE1_ERROR;
    if (actions & _UA_FORCE_UNWIND) return _URC_CONTINUE_UNWIND;    /* the thread is cancelled */
    if (actions & _UA_SEARCH_PHASE) return _URC_HANDLER_FOUND;
    _Unwind_DeleteException(exception);
    _Unwind_SetIP(context, (_Unwind_Ptr)mr_guard_landing);
    return _URC_INSTALL_CONTEXT;
}

#if defined __x86_64__
#define BODY                                                                                       \
    "    subq $8, %rsp\n    .cfi_adjust_cfa_offset 8\n"                                            \
    "    movq %rdi, %rax\n    movq %rsi, %rdi\n    call *%rax\n    xorl %eax, %eax\n"              \
    "1:  addq $8, %rsp\n    .cfi_adjust_cfa_offset -8\n    ret\n"                                  \
    "mr_guard_landing:\n    .cfi_adjust_cfa_offset 8\n    movl $1, %eax\n    jmp 1b\n"
#else
#define BODY                                                                                       \
    "    stp x29, x30, [sp, -16]!\n    .cfi_adjust_cfa_offset 16\n"                                \
    "    .cfi_offset x29, -16\n    .cfi_offset x30, -8\n"                                          \
    "    mov x2, x0\n    mov x0, x1\n    blr x2\n    mov w0, 0\n"                                  \
    "1:  ldp x29, x30, [sp], 16\n    ret\n"                                                        \
    "mr_guard_landing:\n    mov w0, 1\n    b 1b\n"
#endif

/* The unwinder finds the personality through a pointer near the code (0x9b). */
__asm__(".text\n"
        ".hidden mr_guard_call\n.globl mr_guard_call\n.type mr_guard_call, %function\n"
        ".hidden mr_guard_landing\n.globl mr_guard_landing\n"
        "mr_guard_call:\n"
        "    .cfi_startproc\n    .cfi_personality 0x9b, mr_guard_reference\n" BODY
        "    .cfi_endproc\n.size mr_guard_call, . - mr_guard_call\n"
        ".section .data.rel.ro, \"aw\"\n.balign 8\n"
        ".hidden mr_guard_reference\nmr_guard_reference: .quad mr_guard_personality\n"
        ".text\n");
#endif

bool mr_guard(void (*function)(void *), void *argument) {
#ifdef HAS_GUARD
    return mr_guard_call(function, argument) == 0;
#else
    function(argument);
    return true;
#endif
}

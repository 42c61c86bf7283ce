// Forked ranks end by _exit, at which a sanitizer looks for no leaks: in sanitized engines it does.
#include <sanitizer/lsan_interface.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" void _exit(int code) {
  __lsan_do_leak_check();
  ::syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

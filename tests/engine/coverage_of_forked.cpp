// Forked ranks end by _exit, at which nothing is written of the lines that ran: here it is.
#include <sys/syscall.h>
#include <unistd.h>

extern "C" void __gcov_dump();

extern "C" void _exit(int code) {
  __gcov_dump();
  ::syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

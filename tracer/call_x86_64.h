// A system call by the processor's own instruction; what it returns, or -errno.
#pragma once

static inline long kernel(long number, const long parts[6]) {
  long result;
  register long d __asm__("r10") = parts[3];
  register long e __asm__("r8") = parts[4];
  register long f __asm__("r9") = parts[5];
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(parts[0]), "S"(parts[1]), "d"(parts[2]), "r"(d), "r"(e),
                     "r"(f)
                   : "rcx", "r11", "memory");
  return result;
}

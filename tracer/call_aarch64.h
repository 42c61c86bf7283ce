// A system call by the processor's own instruction; what it returns, or -errno.
#pragma once

static inline long kernel(long number, const long parts[6]) {
  register long code __asm__("x8") = number;
  register long a __asm__("x0") = parts[0];
  register long b __asm__("x1") = parts[1];
  register long c __asm__("x2") = parts[2];
  register long d __asm__("x3") = parts[3];
  register long e __asm__("x4") = parts[4];
  register long f __asm__("x5") = parts[5];
  __asm__ volatile("svc 0"
                   : "+r"(a)
                   : "r"(code), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f)
                   : "memory");
  return a;
}

// The processor's time-stamp counter on x86.
#pragma once

#include <cpuid.h>
#include <x86intrin.h>

#include <cstdint>

namespace venturi::base {

/// Ticks since some moment; meaningful only if `cycle_counter_invariant()`.
inline std::uint64_t cycle_counter() noexcept { return __rdtsc(); }

/// Whether the counter runs at one rate in all power states (CPUID 0x80000007, EDX bit 8).
inline bool cycle_counter_invariant() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8U)) != 0;
}

/// Tells the processor that this is a waiting loop.
inline void relax() noexcept { _mm_pause(); }

}  // namespace venturi::base

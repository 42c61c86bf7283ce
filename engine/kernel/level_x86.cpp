// Which loops this processor can run, where it is an x86.
#include "kernel/memory_loops.hpp"

namespace venturi::kernel {

const MemoryLoops& memory_loops_base();
const MemoryLoops& memory_loops_v3();
const MemoryLoops& memory_loops_v4();

const MemoryLoops& memory_loops() {
  const bool has_v3 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool has_v4 =
      has_v3 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (has_v4) return memory_loops_v4();
  return has_v3 ? memory_loops_v3() : memory_loops_base();
}

}  // namespace venturi::kernel

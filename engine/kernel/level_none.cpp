// Which loops this processor can run, where there are those of the compiler's own target alone.
#include "kernel/memory_loops.hpp"

namespace venturi::kernel {

const MemoryLoops& memory_loops_base();

const MemoryLoops& memory_loops() { return memory_loops_base(); }

}  // namespace venturi::kernel

// What the kernel of all pairs of ranks measures.
#include "kernel/message_options.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& links_description();
const Description& links_description() {
  static const Description description{
      .about = "messages between each two ranks, so that a slow rank is told from a slow link",
      .likeness = "LinkTest class",
      .needs_mpi = true,
      .least_ranks = 2,
      .figures = {{"median", "s", "the median over all pairs of a pair's median"},
                  {"slowest", "s", "the slowest pair; of those measured again, alone, that time"}},
      .options =
          {{"size", "bytes", "128 KiB", "one message", "1 B to 1 GiB", 1.0, 0x1p30},
           {"messages", "integer", "10", "messages of each pair that count", "1 to 100000", 1.0,
            1e5},
           {"warmup", "integer", "3", "messages of each pair before", "0 to 100000", 0.0, 1e5},
           {"mode", "word", "parallel",
            "whether as many pairs as possible are at work at once, or one at a time",
            "parallel|serial"},
           {"way", "word", "semi",
            "messages go back and forth in turn, both ways at once, or one way", "semi|both|one"},
           {"order", "word", "random", "the order of the steps", "random|fixed"},
           {"slowest", "integer", "10", "so many pairs are measured again, one at a time",
            "0 to 1000", 0.0, 1000.0},
           {"retests", "integer", "3", "how often each of them", "3 to 1000", 3.0, 1000.0},
           {"slow_from", "integer", "0",
            "a fault for tests: this rank waits before each message to slow_to", "0 or more"},
           {"slow_to", "integer", "0", "see slow_from", "0 or more"},
           {"slow_s", "real", "0", "how long it waits, in seconds; 0: not at all", "0 to 10", 0.0,
            10.0},
           kDamageOption},
  };
  return description;
}

}  // namespace venturi::kernel

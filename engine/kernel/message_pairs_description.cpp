// What the kernel of messages between pairs of ranks measures.
#include "kernel/message_options.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& message_pairs_description();
const Description& message_pairs_description() {
  static const Description description{
      .about =
          "messages between pairs of ranks over sizes: latency, bandwidth in one and in both "
          "directions, of one pair and of all pairs at once",
      .likeness = "OSU point-to-point class",
      .needs_mpi = true,
      .least_ranks = 2,
      .figures = {{"latency", "s", "half a round trip of an empty message, one pair"},
                  {"bandwidth", "B/s", "the largest messages in a window, one pair"},
                  {"bidirectional", "B/s", "the same in both directions at once, their sum"},
                  {"latency of all", "s",
                   "half a round trip of an empty message, all pairs at once"},
                  {"bandwidth of all", "B/s", "the largest messages, all pairs at once, their sum"},
                  {"message rate", "msg/s", "messages of 1 byte, all pairs at once, their sum"},
                  {"alpha", "s", "time of a message without bytes, by t = alpha + m / B"},
                  {"rate", "B/s", "B of that fit"},
                  {"half size", "B", "alpha B: the message that reaches half of B"}},
      .options = {kMostOption,
                  {"window", "integer", "64", "messages in flight where bandwidth is measured",
                   "1 to 4096", 1.0, 4096.0},
                  kSizeSecondsOption,
                  kDamageOption},
  };
  return description;
}

}  // namespace venturi::kernel

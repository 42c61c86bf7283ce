// What the kernel of collective operations measures.
#include "kernel/message_options.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& message_collectives_description();
const Description& message_collectives_description() {
  static const Description description{
      .about =
          "collective operations of all ranks over sizes: barrier, bcast, reduce, allreduce, "
          "gather, gatherv, allgather, alltoall and alltoallv",
      .likeness = "OSU collective class",
      .needs_mpi = true,
      .least_ranks = 2,
      .figures = {{"barrier", "s", "a barrier"},
                  {"allreduce", "s", "an allreduce of 8 bytes"},
                  {"alltoallv", "s", "an alltoallv of the largest size"}},
      .options = {{"most", "bytes", "256 KiB",
                   "the largest part of a rank; sizes grow by 4 from 8 bytes on", "8 B to 64 MiB",
                   8.0, 0x1p26},
                  kSizeSecondsOption,
                  {"memory", "bytes", "256 MiB",
                   "sizes for which a rank's buffers would take more are left out",
                   "1 MiB or more bytes", 0x1p20},
                  kDamageOption},
  };
  return description;
}

}  // namespace venturi::kernel

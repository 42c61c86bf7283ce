// Messages of MPI between ranks: how they travel, and timing them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "kernel/kernel.hpp"
#include "kernel/message_payload.hpp"

namespace venturi::kernel {

/// The communicator of exactly the ranks of a group.
[[nodiscard]] MPI_Comm communicator_of(const comm::Group& group);

/// Adds how messages travel to a result: the library, and the variables that choose a transport.
void note_transport(schema::KernelResult& out);

/// 0, then 1 and its doubles up to `most`, and `most`.
[[nodiscard]] std::vector<std::uint64_t> message_sizes(std::uint64_t most);

/// How often something is done that takes `once_s` so that it takes `wanted_s`, within bounds.
[[nodiscard]] std::uint64_t times_in(double wanted_s, double once_s, std::uint64_t least,
                                     std::uint64_t most);

}  // namespace venturi::kernel

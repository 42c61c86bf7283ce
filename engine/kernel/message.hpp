// Messages of MPI between ranks: buffers with a payload that is checked, and timing them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "kernel/kernel.hpp"

namespace venturi::kernel {

/// The communicator of exactly the ranks of a group.
[[nodiscard]] MPI_Comm communicator_of(const comm::Group& group);

/// Adds how messages travel to a result: the library, and the variables that choose a transport.
void note_transport(schema::KernelResult& out);

/// A byte of a message's payload; neighbours and messages have different ones.
[[nodiscard]] constexpr std::byte payload_at(std::uint64_t key, std::uint64_t at) noexcept {
  return static_cast<std::byte>((at * 131 + (at >> 8U) * 17 + key * 29 + 7) & 0xffU);
}
/// Fills a message with the payload of a key.
void fill_payload(std::byte* data, std::uint64_t bytes, std::uint64_t key);
/// Throws base::Error, with `what` it was, for the first byte that is not of the payload.
void check_payload(const std::byte* data, std::uint64_t bytes, std::uint64_t key,
                   const std::string& what);

/// 0, then 1 and its doubles up to `most`, and `most`.
[[nodiscard]] std::vector<std::uint64_t> message_sizes(std::uint64_t most);

/// How often something is done that takes `once_s` so that it takes `wanted_s`, within bounds.
[[nodiscard]] std::uint64_t times_in(double wanted_s, double once_s, std::uint64_t least,
                                     std::uint64_t most);

}  // namespace venturi::kernel

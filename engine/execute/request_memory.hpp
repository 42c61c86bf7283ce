// The memory that requests write from and read into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "backend/backend.hpp"
#include "base/buffer.hpp"
#include "execute/run_files.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// At most so many requests are taken from a cursor before the first of them is done, beyond the
/// step's depth.
inline constexpr std::size_t kMostInFlight = 64;

/// Buffers of one rank. They grow, and throw base::Error (exit 2) for more than half of this
/// machine's memory.
class RequestMemory {
 public:
  RequestMemory(const RankView& view, const RunFiles& files) : view_(view), files_(files) {}
  RequestMemory(const RequestMemory&) = delete;
  RequestMemory& operator=(const RequestMemory&) = delete;

  base::Buffer read_buffer;
  /// Where in these the next request comes whose step moves through memory.
  std::uint64_t write_at = 0;
  std::uint64_t read_at = 0;
  /// Of a read of a step some of whose reads get new memory; from 1 on it is that one's turn.
  double fresh_due = 0.0;
  /// How long it took to make the bytes of the last request of about a size, by its number of bits.
  std::array<std::uint64_t, 65> making_ns = {};
  /// The requests of a batch, and how they end: one batch at a time, whatever its step.
  std::array<backend::Request, kMostInFlight> requests;
  std::array<backend::Completion, kMostInFlight> completions;

  /// At least `bytes` of memory that each request's data are made in.
  std::byte* writer(std::uint64_t bytes);
  /// At least `bytes` of incompressible (or as compressible as asked) data to write.
  std::byte* filler(const schema::File& file, std::uint64_t bytes);
  /// The same for an array of the application's, from which requests are packed.
  std::byte* cells(const schema::File& file, std::uint64_t bytes);
  /// At least `bytes` of memory to read into.
  std::byte* reader(std::uint64_t bytes);

 private:
  /// Memory with made-up contents, so many bytes of it.
  struct Filled {
    base::Buffer memory;
    std::uint64_t bytes = 0;
  };
  /// By compressibility and duplicates.
  using ByContent = std::map<std::pair<double, double>, Filled>;

  std::byte* fill(ByContent& buffers, const schema::File& file, std::uint64_t bytes);

  const RankView& view_;
  const RunFiles& files_;
  /// Each kind apart: steps take turns, and to fill megabytes again for each turn would take longer
  /// than to write them, and displace everything from the processor's caches.
  base::Buffer made_;
  ByContent filled_;
  ByContent cells_;
};

}  // namespace venturi::execute

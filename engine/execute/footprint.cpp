// What computing leaves behind in the processor's caches: an application's data in place of ours.
#include "execute/footprint.hpp"

#include <algorithm>
#include <cmath>

#include "execute/cold_code.hpp"

namespace venturi::execute {

namespace {

constexpr std::size_t kLineBytes = 64;
/// More than a core's own caches (1 to 2 MiB), so that what lies in them is displaced.
constexpr std::size_t kMemoryBytes = std::size_t{4} << 20U;
/// A line each 8 ns. Measured on sqlite and gdal_translate on tmpfs: with 1, 2, 4 and 8 bytes per
/// ns their proxies spend 19, 18, 12 and 1 % less time in I/O (sqlite), 23 % without.
constexpr std::uint64_t kBytesPerNs = 8;
/// Who computes for longer comes back to what it used before. Of a sort through a FUSE file system,
/// 0.7 ms of computing before each 14 KB: 43 us in the application, 103 at this pace all the time,
/// 51 when what is used grows with the square root of the time from here on.
constexpr std::uint64_t kPaceNs = 10'000;
constexpr std::uint64_t kStepBytes = 1024;
/// Of code, a piece each 10 ns. Without any, small calls of the proxies of three programs on tmpfs
/// (a database in Java, a log of a key-value store, an index of alignments) take 18 to 45 % less
/// time than in the programs; with a piece each 10 ns from 18 % less to 14 % more, each 5 ns from
/// 15 % less to 16 % more.
constexpr std::uint64_t kNsPerPiece = 10;
constexpr std::uint64_t kStepPieces = 16;

/// How long computing uses something new, of so long.
std::uint64_t new_within(std::uint64_t elapsed_ns) {
  if (elapsed_ns <= kPaceNs) return elapsed_ns;
  const double times = std::sqrt(static_cast<double>(elapsed_ns) / static_cast<double>(kPaceNs));
  return static_cast<std::uint64_t>(times * static_cast<double>(kPaceNs));
}

}  // namespace

void Footprint::Use::begin() {
  used -= std::min(used, wanted);
  wanted = 0;
}

void Footprint::Use::want(std::uint64_t much, std::uint64_t most) {
  wanted = much;
  if (wanted > used + most) used = wanted - most;
}

void Footprint::begin() {
  if (memory_.empty()) memory_.resize(kMemoryBytes);
  bytes_.begin();
  pieces_.begin();
}

void Footprint::reach(std::uint64_t elapsed_ns) {
  const std::uint64_t new_ns = new_within(elapsed_ns);
  bytes_.want(new_ns * kBytesPerNs, kMemoryBytes);
  for (; bytes_.used < bytes_.wanted; bytes_.used += kStepBytes) {
    for (const std::size_t end = at_ + kStepBytes; at_ < end; at_ += kLineBytes) {
      memory_[at_] ^= std::byte{1};
    }
    at_ %= kMemoryBytes;
  }
  const std::span<const ColdPiece> code = cold_code();
  pieces_.want(new_ns / kNsPerPiece, code.size());
  for (; pieces_.used < pieces_.wanted; pieces_.used += kStepPieces) {
    for (std::uint64_t count = 0; count < kStepPieces; ++count) {
      value_ = code[next_piece_](value_);
      next_piece_ = (next_piece_ + 1) % code.size();
    }
  }
}

}  // namespace venturi::execute

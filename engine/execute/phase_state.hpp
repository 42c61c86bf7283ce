// What a rank keeps for a phase that is running.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "execute/file_set.hpp"
#include "measure/meter.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// How strong a sync mode is: none, flush, fdatasync, fsync.
[[nodiscard]] constexpr std::uint64_t strength(schema::SyncMode mode) noexcept {
  constexpr std::array<std::uint64_t, 4> kStrength{0, 3, 2, 1};
  return kStrength[static_cast<std::size_t>(mode)];
}
/// The inverse of `strength`.
[[nodiscard]] constexpr schema::SyncMode mode_of(std::uint64_t strength) noexcept {
  using enum schema::SyncMode;
  constexpr std::array<schema::SyncMode, 4> kModes{kNone, kFlush, kFdatasync, kFsync};
  return kModes[strength];
}

/// One running phase; phases nest.
struct PhaseState {
  const schema::Phase* plan = nullptr;
  std::unique_ptr<measure::Meter> meter;
  /// Grows with every phase of the run, so an inner phase has a larger one.
  std::uint64_t serial = 0;
  std::uint64_t start_ns = 0;
  bool wrote = false;
  /// Something was closed without a sync after its last write.
  bool unsynced = false;
  /// The weakest sync so far.
  std::uint64_t weakest = strength(schema::SyncMode::kFsync);
  /// Which states the data was in that the phase read, by `Residency`.
  std::array<std::uint64_t, 5> read_from{};
  bool bypassed_cache = false;
};

}  // namespace venturi::execute

// What a rank keeps for a phase that is running.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "execute/file_set.hpp"
#include "execute/file_work.hpp"
#include "execute/page_count.hpp"
#include "measure/meter.hpp"
#include "schema/event.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// How strong a sync mode is: none, flush, fdatasync, fsync and the whole file system.
[[nodiscard]] constexpr std::uint64_t strength(schema::SyncMode mode) noexcept {
  constexpr std::array<std::uint64_t, 5> kStrength{0, 3, 2, 1, 3};
  return kStrength[static_cast<std::size_t>(mode)];
}
/// The inverse of `strength`, which takes the whole file system for fsync.
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
  /// Of the files to be read, just before the phase; none if nobody could look.
  ToRead to_read = {};
  /// By file, where its storage says on which server it is.
  FileWork file_work = {};
  /// Other phases ran inside of it, so that its own work is not all.
  bool encloses = false;
  /// What kernels measured; on the first rank of the group.
  std::vector<schema::KernelResult> kernels = {};
  /// What the target was before the phase, on the first rank of each node.
  std::optional<schema::TargetFacts> target = {};
  /// The deadline and the words that were in force around it.
  std::uint64_t outer_deadline_ns = 0;
  std::string outer_doing = {};
};

}  // namespace venturi::execute

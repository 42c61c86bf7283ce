// What was noted about files: the stamps they bear, and where their data is.
#include "execute/run_files.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace venturi::execute {

RunFiles::RunFiles(const RankView& view, Measurement& measurement)
    : writes(view.part.plan->program),
      view_(view),
      measurement_(measurement),
      run_key_(base::key_of(view.plan.run)) {}

History* RunFiles::history_of(FileState& file) const {
  if (!file.plan->content.verify || file.plan->foreign) return nullptr;
  return &file.histories[view_.family_key(*file.plan)];
}

payload::Stamp RunFiles::stamp(const schema::File& file, std::uint64_t path_key,
                               std::uint64_t generation, std::uint64_t write) const {
  std::uint64_t seed = base::combine(static_cast<std::uint64_t>(view_.plan.seed),
                                     static_cast<std::uint64_t>(file.content.seed));
  // What an earlier run left must not pass for what this one wrote.
  if (file.content.verify) seed = base::combine(seed, run_key_);
  return payload::Stamp({seed, path_key, generation, file.content.compressibility,
                         file.content.duplicates.value_or(0.0), write});
}

payload::Stamp RunFiles::stamp(const schema::File& file, const OpenFile& open) const {
  const schema::Content& content = file.content;
  if (open.stamp_key) {
    return {*open.stamp_key, content.compressibility, content.duplicates.value_or(0.0)};
  }
  const std::uint64_t generation = open.history != nullptr ? open.history->created : 0;
  return stamp(file, base::key_of(open.path), generation, writes.number());
}

payload::Stream* RunFiles::stream(FileState& file) {
  const schema::Content& content = file.plan->content;
  if (content.repeats || !file.plain->traits().real_files) return nullptr;
  if (!file.stream) {
    const auto entry = static_cast<std::uint64_t>(&file - files.data());
    const std::uint64_t own = base::combine(base::combine(run_key_, view_.world.rank()), entry);
    file.stream.emplace(base::combine(own, static_cast<std::uint64_t>(content.seed)),
                        content.compressibility, content.duplicates.value_or(0.0));
  }
  return &*file.stream;
}

void RunFiles::note_write(FileState& file, OpenFile* open) {
  const backend::Traits traits = file.storage->traits();
  if (traits.real_files) {
    file.residency = traits.bypasses_cache ? Residency::kStorage : Residency::kMemory;
  }
  for (PhaseState& phase : measurement_.phases) phase.wrote = true;
  if (open != nullptr) open->unsynced_in = measurement_.next_serial - 1;
}

void RunFiles::note_unsynced(OpenFile& open, std::uint64_t bytes) const {
  const bool earlier =
      !measurement_.phases.empty() && open.unsynced_in < measurement_.phases.back().serial;
  open.unsynced_bytes = (earlier ? 0 : open.unsynced_bytes) + bytes;
}

void RunFiles::note_sync(OpenFile* open, schema::SyncMode mode) {
  // A flush reaches the kernel at most: what was written is no more persistent than before.
  if (open->unsynced_in == 0 || mode == schema::SyncMode::kFlush) return;
  if (!measurement_.phases.empty() && open->unsynced_in >= measurement_.phases.back().serial) {
    measurement_.meter().add_durable(open->unsynced_bytes);
  }
  open->unsynced_bytes = 0;
  open->unsynced_in = 0;
  for (PhaseState& phase : measurement_.phases)
    phase.weakest = std::min(phase.weakest, strength(mode));
}

void RunFiles::note_close(const OpenFile& open) {
  for (PhaseState& phase : measurement_.phases) phase.unsynced |= open.unsynced_in >= phase.serial;
}

void RunFiles::note_read(FileState& file, std::uint64_t owner) {
  const backend::Traits traits = file.storage->traits();
  if (!traits.real_files) return;
  file.read_in_phase = true;
  Residency from = file.residency;
  if (traits.is_keyed) {
    from = Residency::kForeign;  // whether the server has it in memory nobody says
  } else if (traits.bypasses_cache) {
    from = Residency::kStorage;
  } else if (view_.group.node_of(owner) != view_.group.node()) {
    from = Residency::kForeign;
  }
  for (PhaseState& phase : measurement_.phases) {
    phase.read_from[static_cast<std::size_t>(from)] = 1;
    phase.bypassed_cache |= traits.bypasses_cache;
  }
}

}  // namespace venturi::execute

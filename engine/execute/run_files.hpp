// What is open: the files of the plan, the list of what was made, and how far data are persistent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "execute/file_set.hpp"
#include "execute/manifest.hpp"
#include "execute/measurement.hpp"
#include "execute/rank_view.hpp"
#include "execute/rewrites.hpp"
#include "execute/target.hpp"
#include "payload/stamp.hpp"

namespace venturi::execute {

/// The files of one rank during one run.
class RunFiles {
 public:
  RunFiles(const RankView& view, Measurement& measurement);
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;

  std::vector<FileState> files;
  std::optional<Manifest> manifest;
  /// On the first rank of each node.
  std::optional<Target> target;
  WriteCounter writes;
  /// Ranks remove items that others made, so what this rank made may be gone.
  bool removes_others = false;
  /// Some file is verified, so writes are numbered.
  bool verifies = false;
  /// Some phase drops caches, so paths must be remembered.
  bool remembers_paths = false;

  /// What was written into the file of the current slots; null unless it is verified.
  History* history_of(FileState& file) const;
  /// The stamps of a path's content.
  [[nodiscard]] payload::Stamp stamp(const schema::File& file, std::uint64_t path_key,
                                     std::uint64_t generation, std::uint64_t write) const;
  /// The same of an open file.
  [[nodiscard]] payload::Stamp stamp(const schema::File& file, const OpenFile& open) const;
  /// Where the bytes of a file entry's writes come from; null where nobody keeps them, and where
  /// all requests write the same.
  payload::Stream* stream(FileState& file);
  /// Another number at each call.
  std::uint64_t next_mark() noexcept { return ++marks_; }

  /// Data was written to, made persistent in, or read from a file.
  void note_write(FileState& file, OpenFile* open);
  /// So many bytes of an open file wait for a sync.
  void note_unsynced(OpenFile& open, std::uint64_t bytes) const;
  void note_sync(OpenFile* open, schema::SyncMode mode);
  void note_close(const OpenFile& open);
  void note_read(FileState& file, std::uint64_t owner);

 private:
  const RankView& view_;
  Measurement& measurement_;
  std::uint64_t run_key_;
  std::uint64_t marks_ = 0;
};

}  // namespace venturi::execute

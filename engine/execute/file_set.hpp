// The files of a plan on one rank: their storage, open handles, generations and cached state.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/table.hpp"
#include "execute/reach.hpp"
#include "payload/stamp.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// Where the data of a file entry is, as far as this rank's node is concerned.
enum class Residency : std::uint8_t { kNothing, kMemory, kStorage, kPartly, kForeign };

/// An open handle.
struct OpenFile {
  std::string path;
  backend::Handle handle = 0;
  std::uint64_t generation = 0;
  /// The serial number of the innermost phase in which it was written without a sync after it; 0
  /// means that nothing waits for a sync.
  std::uint64_t unsynced_in = 0;
};

/// One entry of the plan's files.
struct FileState {
  const schema::File* plan = nullptr;
  std::unique_ptr<backend::Backend> storage;
  /// The same storage without the faulty wrapper, for what is not measured.
  backend::Backend* plain = nullptr;
  std::vector<OpenFile> open;
  /// How often each file of the family was created, by the key of its path with rank and node 0:
  /// all ranks run the same program, so all count alike. Prestaged data is generation 0.
  std::unordered_map<std::uint64_t, std::uint64_t> generations;
  Residency residency = Residency::kNothing;
  Reach reach;
  /// Files that this rank opened, if some phase drops caches.
  std::set<std::string> touched;
  bool has_mkdir = false;
  /// Read in the running phase, so that afterwards it is in memory.
  bool read_in_phase = false;

  /// The open handle of a path, or null.
  OpenFile* find(const std::string& path) noexcept;
};

/// All entries, in the plan's order.
std::vector<FileState> make_file_states(const schema::Plan& plan,
                                        const backend::Environment& environment);

}  // namespace venturi::execute

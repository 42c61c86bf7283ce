// The files of a plan on one rank: their storage, open handles, generations and cached state.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/table.hpp"
#include "execute/item_reach.hpp"
#include "execute/reach.hpp"
#include "execute/rewrites.hpp"
#include "execute/tree_set.hpp"
#include "payload/stamp.hpp"
#include "payload/stream.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// Where the data of a file entry is, as far as this rank's node is concerned.
enum class Residency : std::uint8_t { kNothing, kMemory, kStorage, kPartly, kForeign };

/// An open handle.
struct OpenFile {
  std::string path;
  backend::Handle handle = 0;
  /// Of a file that is verified.
  History* history = nullptr;
  /// Of a file of an earlier run: the key of the stamps that it bears.
  std::optional<std::uint64_t> stamp_key = {};
  /// The serial number of the innermost phase in which it was written without a sync after it; 0
  /// means that nothing waits for a sync.
  std::uint64_t unsynced_in = 0;
  /// How much was written since then.
  std::uint64_t unsynced_bytes = 0;
  /// Where sequential requests go on.
  std::uint64_t position = 0;
  /// Where a file of this rank alone ends that is appended to; none: ask the storage.
  std::optional<std::uint64_t> end = {};
};

/// One entry of the plan's files.
struct FileState {
  const schema::File* plan = nullptr;
  /// Those who share a file with this rank; only where the interface asks for them.
  std::shared_ptr<comm::Group> sharers;
  std::unique_ptr<backend::Backend> storage;
  /// The same storage without the faulty wrapper, for what is not measured.
  backend::Backend* plain = nullptr;
  std::vector<OpenFile> open;
  /// Of each file of the family, by the key of its path with rank and node 0: all ranks run the
  /// same program, so all count alike. Prestaged data is generation 0, write 0.
  std::unordered_map<std::uint64_t, History> histories;
  /// Another group numbers its writes by itself.
  bool is_used_by_groups = false;
  Residency residency = Residency::kNothing;
  Reach reach;
  /// How far limits let the items of each tree of the family come, by `Context::family_key`.
  std::map<std::uint64_t, ItemReach> item_reaches;
  /// What is known and open of a tree's directories.
  TreeSet trees;
  /// Files that this rank opened, if some phase drops caches.
  std::set<std::string> touched;
  bool has_mkdir = false;
  /// Steps take windows of its items that are counted from what is there.
  bool has_moving_windows = false;
  /// The program of this rank's group uses it.
  bool used = false;
  /// This rank's group fills it before the run.
  bool stages = false;
  /// The program removes what was filled before, so each repetition needs it anew.
  bool is_removed = false;
  /// The program makes links of items that were filled before; each repetition begins without.
  bool is_linked = false;
  /// It is being filled: directories that are there, and links that are not, are as they should be.
  bool is_filling = false;
  bool has_told_facts = false;
  /// What this rank writes into it, from the first write on.
  std::optional<payload::Stream> stream;
  /// Its storage says which server holds a file.
  bool tells_servers = false;
  /// Read in the running phase, so that afterwards it is in memory.
  bool read_in_phase = false;

  /// The open handle of a path, or null.
  OpenFile* find(const std::string& path) noexcept;
};

/// All entries, in the plan's order, with the groups of sharers but without storage. Collective.
std::vector<FileState> split_sharers(const schema::Plan& plan, comm::Group& group);
/// Makes the storage of each entry. Throws base::Error when a backend cannot work here.
void make_storage(std::vector<FileState>& files, const backend::Environment& environment);

}  // namespace venturi::execute

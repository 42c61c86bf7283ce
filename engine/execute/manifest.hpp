// What a rank made: one text line per name, in a file that survives the death of the process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/beneath.hpp"
#include "base/descriptor.hpp"

namespace venturi::execute {

/// Why a name is listed, and so when it may be removed.
enum class EntryKind : std::uint8_t {
  /// The run's directory itself.
  kRoot,
  /// The file in it that says that it is ours.
  kMarker,
  /// Removed at the end of the repetition.
  kFile,
  kDirectory,
  /// A directory of a tree: names in it that the plan gives to items are ours, too.
  kTree,
  /// Made before the first repetition; removed at the end of the run.
  kStagedFile,
  kStagedTree,
  /// Stays, because the plan says so.
  kKept,
  /// A directory of a tree that stays.
  kKeptTree,
};

/// One line: kind, device, inode, time of birth, and the path relative to the run's directory.
struct Entry {
  EntryKind kind = EntryKind::kFile;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// Nanoseconds since 1970; 0 where the file system does not know.
  std::uint64_t birth_ns = 0;
  std::string path;

  [[nodiscard]] bool is(const base::Identity& identity) const noexcept {
    return identity.is_same({.device = device, .inode = inode, .birth_ns = birth_ns});
  }
};

/// The lines of a manifest's text; a line that was cut off by the death of its writer is left out.
/// A line without a time of birth is taken as one where it is not known.
std::vector<Entry> parse_manifest(std::string_view text);

/// The entries of all ranks: `manifest.<rank>` in the journal, `.manifest.<rank>` in the directory.
std::vector<Entry> read_manifests(const std::string& journal, const std::string& directory);

/// Whether a process still holds one of these manifests.
bool manifests_in_use(const std::string& journal, const std::string& directory);

/// The manifest of one rank. Lines are written into a mapped file, so one costs a memcpy and yet
/// outlives `kill -9`.
class Manifest {
 public:
  /// Opens `manifest.<rank>` in the journal, or `.manifest.<rank>` in the directory where the
  /// journal cannot be reached. Throws base::Error (exit 5).
  Manifest(const std::string& journal, const std::string& directory, std::size_t rank);
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;
  ~Manifest();

  /// Throws base::Error (exit 5) when the file cannot grow.
  void add(const Entry& entry);
  /// All that was listed from this position on.
  [[nodiscard]] std::vector<Entry> since(std::size_t position) const;
  /// Where the next line will be.
  [[nodiscard]] std::size_t position() const noexcept { return used_bytes_; }
  /// Forgets everything from this position on but these entries.
  void rewind(std::size_t position, const std::vector<Entry>& remaining);

  /// Whether this rank, or else any rank, made the file.
  bool owns(const base::Identity& identity);
  /// Whether this rank listed the path, and what is there now is nothing that any rank made.
  bool denies(const std::string& path, const base::Identity& identity);

 private:
  struct Pair {
    std::uint64_t device;
    std::uint64_t inode;
    bool operator==(const Pair&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Pair& pair) const noexcept;
  };

  void grow(std::size_t bytes);
  void learn();

  std::string journal_;
  std::string directory_;
  base::Descriptor file_;
  char* memory_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::size_t used_bytes_ = 0;
  /// Built only when somebody asks: asking is rare, making files is not.
  std::unordered_map<Pair, std::uint64_t, Hash> births_ns_;
  /// The last listing of each path, by its key.
  std::unordered_map<std::uint64_t, Pair> listed_;
  std::size_t known_bytes_ = 0;
};

}  // namespace venturi::execute

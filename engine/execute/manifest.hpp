// What a rank makes: one text line per name, in a file that survives the death of the process.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/beneath.hpp"
#include "base/descriptor.hpp"
#include "execute/run_key.hpp"

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
  /// A directory of a tree.
  kTree,
  /// Made before the first repetition; removed at the end of the run.
  kStagedFile,
  kStagedTree,
  /// Stays, because the plan says so.
  kKept,
  /// A directory of a tree that stays.
  kKeptTree,
  /// Items in a directory of a tree.
  kItems,
  kStagedItems,
  kKeptItems,
  /// A name that is about to be made; what is listed behind it under the same path settles it.
  kIntent,
  /// A name that was not made.
  kVoid,
};

/// Items of one directory whose numbers follow each other. A line has one character for each: how
/// often this rank made it, less how often it removed it, modulo 64.
struct ItemBlock {
  static constexpr std::uint64_t kItems = 256;

  /// Their names, as `pattern::text_of_names` has it.
  std::string names;
  /// The directory's number in its tree, and how many items each has.
  std::uint64_t node = 0;
  std::uint64_t per_node = 0;
  /// The index of the first one in the directory.
  std::uint64_t first = 0;
  /// They are directories themselves.
  bool directories = false;
};

/// One line of a manifest. The path is relative to the run's directory.
struct Entry {
  EntryKind kind = EntryKind::kFile;
  base::Identity identity = {};
  std::string path;
  /// Of items: their directory is `path`.
  ItemBlock block = {};
  std::string counts = {};
  /// What was about to be made is ours only if it was born at this moment or later.
  std::uint64_t since_ns = 0;

  [[nodiscard]] bool is(const base::Identity& found) const noexcept {
    return identity.is_surely_same(found);
  }
};

/// A count in a line of items.
inline constexpr unsigned char kSettled = 0x40;
inline constexpr unsigned char kPending = 0x80;
inline constexpr unsigned char kCountMask = 0x3f;
/// Counts from here on are negative.
inline constexpr unsigned char kNegative = 0x20;
/// Whether the item is there, as far as the count is concerned.
[[nodiscard]] constexpr bool is_made(unsigned char count) noexcept {
  return (count & kCountMask) != 0 && (count & kCountMask) < kNegative;
}

/// What two ranks together did to an item.
[[nodiscard]] constexpr unsigned char sum_of(unsigned char one, unsigned char two) {
  const unsigned state = ((one | two) & kPending) != 0 ? kPending : kSettled;
  return static_cast<unsigned char>(state | ((one + two) & kCountMask));
}

/// Whether lines of two ranks are about the same items.
[[nodiscard]] inline bool is_same_block(const Entry& one, const Entry& other) {
  return one.path == other.path && one.block.names == other.block.names &&
         one.block.first == other.block.first;
}

/// The lines of a manifest's text; a line that was cut off by the death of its writer is left out,
/// and so is one whose path is not below the run's directory.
std::vector<Entry> parse_lines(std::string_view text, std::uint64_t since_ns = 0);
/// The entries of a whole manifest; nothing unless it bears this key.
std::vector<Entry> parse_manifest(std::string_view text, const RunKey& key);

/// The names of the manifests that a run has in its own directory, because some rank could not
/// reach the journal: regular files with the run's key. Others under such names are not ours.
std::vector<std::string> manifests_in(int directory, const RunKey& key);

/// The entries of all ranks: `manifest.<rank>` in the journal, `.manifest.<rank>` in the directory.
std::vector<Entry> read_manifests(const std::string& journal, const std::string& directory,
                                  const RunKey& key);

/// Whether a process still holds one of these manifests.
bool manifests_in_use(const std::string& journal, const std::string& directory, const RunKey& key);

/// Adds up what all ranks did to each item; entries of other kinds are left out.
std::vector<Entry> sum_items(const std::vector<Entry>& entries);

/// Where the lines of one block of items stand in the manifests of all ranks: asking for an item's
/// count again costs a read of each line instead of all manifests.
class BlockLines {
 public:
  /// Reads all manifests.
  void find(const std::string& journal, const std::string& directory, const RunKey& key,
            const Entry& block);
  /// What the ranks whose lines were found did to an item by now. Nothing if the lines are those of
  /// another block, or no longer there.
  [[nodiscard]] std::optional<unsigned char> count(const Entry& block, std::size_t place) const;
  void forget() { *this = {}; }

 private:
  struct Line {
    std::string file;
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };

  static bool is_of(const Entry& block, std::string_view line);

  Entry block_;
  std::vector<Line> lines_;
};

/// What all manifests of a run have in common, and the clocks of this process.
struct Binding {
  RunKey key;
  /// The file system's clock less CLOCK_REALTIME.
  std::int64_t offset_ns = 0;
  /// What the clock of the run says now.
  std::uint64_t now_ns = 0;
};

/// CLOCK_REALTIME as file systems read it, at most a tick old.
[[nodiscard]] std::uint64_t coarse_time_ns() noexcept;

/// The manifest of one rank. Lines are written into a mapped file, so one costs a memcpy and yet
/// outlives `kill -9`.
class Manifest {
 public:
  /// Opens `manifest.<rank>` in the journal. Where that cannot be reached: `.manifest.<rank>` in
  /// the directory, but rank 0 does without that, because it begins before there is a directory.
  /// Throws base::Error (exit 5).
  Manifest(const std::string& journal, const std::string& directory, std::size_t rank,
           const Binding& binding);
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;
  ~Manifest();

  /// The difference of the clocks is known from here on.
  void set_offset(std::int64_t offset_ns) noexcept;

  /// Throws base::Error (exit 5) when the file cannot grow.
  void add(const Entry& entry);
  /// Before a name is made: the same, with a moment.
  void intend(const std::string& path);
  /// It was not made.
  void retract(const std::string& path);

  /// Where the counts of the items of a block are, which is added if it is new: a position for
  /// `count`. `key` stands for the block, `make` returns its entry.
  template <class Make>
  std::size_t place_of_items(std::uint64_t key, const Make& make) {
    const auto found = blocks_.find(key);
    return found != blocks_.end() ? found->second : add_items(key, make());
  }
  /// The count of an item.
  [[nodiscard]] unsigned char& count(std::size_t place) noexcept {
    return reinterpret_cast<unsigned char&>(memory_[place]);
  }
  /// An item is made now, by the clock of the run.
  void set_now(std::uint64_t now_ns) noexcept { std::memcpy(memory_ + kNowAt, &now_ns, 8); }
  /// This rank removed items that another one had made.
  [[nodiscard]] bool removed_others() const noexcept { return removed_others_; }
  void note_removal_of_others() noexcept { removed_others_ = true; }
  /// Whether some rank made an item, and none removed it since: `place` in the counts of the entry.
  /// Waits for ranks that are about to make it.
  bool any_made(const Entry& entry, std::size_t place);

  /// All that was listed from this position on.
  [[nodiscard]] std::vector<Entry> since(std::size_t position) const;
  /// Where the next line will be.
  [[nodiscard]] std::size_t position() const noexcept { return used_bytes_; }
  /// Of an empty manifest.
  static constexpr std::size_t kFirstPosition = 80;
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
  /// In the header behind the text: when an item is made, and one moment on both clocks.
  static constexpr std::size_t kNowAt = 56;

  void open(const std::string& directory, std::size_t rank);
  std::size_t add_items(std::uint64_t key, Entry entry);
  void grow(std::size_t bytes);
  void learn();

  std::string journal_;
  std::string directory_;
  Binding binding_;
  base::Descriptor file_;
  char* memory_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::size_t used_bytes_ = kFirstPosition;
  /// Built only when somebody asks: asking is rare, making files is not.
  std::unordered_map<Pair, base::Identity, Hash> identities_;
  /// The last listing of each path, by its key.
  std::unordered_map<std::uint64_t, Pair> listed_;
  std::size_t known_bytes_ = kFirstPosition;
  /// Of each block of items, where its counts are.
  std::unordered_map<std::uint64_t, std::size_t> blocks_;
  /// Of the block that was asked for last.
  BlockLines asked_;
  bool removed_others_ = false;
  /// Where the last intent stands.
  std::size_t intended_at_ = 0;
  std::size_t intended_end_ = 0;
};

}  // namespace venturi::execute

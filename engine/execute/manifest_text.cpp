// The text of manifests: lines, their header, and whose they are.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "execute/manifest.hpp"
#include "execute/manifest_words.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

std::optional<std::string_view> next_word(std::string_view& line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space + 1);
  return word;
}

bool parse_number(std::optional<std::string_view> word, std::uint64_t& out) {
  if (!word) return false;
  const char* end = word->data() + word->size();
  const auto [stop, error] = std::from_chars(word->data(), end, out);
  return error == std::errc{} && stop == end;
}

bool parse_items(std::string_view& line, Entry& entry) {
  ItemBlock& block = entry.block;
  std::uint64_t bytes = 0;
  const bool fine = parse_number(next_word(line), block.node) &&
                    parse_number(next_word(line), block.per_node) &&
                    parse_number(next_word(line), block.first);
  const auto type = fine ? next_word(line) : std::nullopt;
  if (!type || (*type != "f" && *type != "d") || !parse_number(next_word(line), bytes))
    return false;
  constexpr std::size_t kCounts = ItemBlock::kItems;
  if (line.size() < kCounts + 2 || bytes > line.size() - kCounts - 2) return false;
  block.directories = *type == "d";
  entry.counts = line.substr(0, kCounts);
  block.names = line.substr(kCounts + 1, bytes);
  line.remove_prefix(kCounts + 2 + bytes);
  return true;
}

/// A path that stays below the directory; the marker is one, too.
bool is_beneath(const Entry& entry) {
  if (entry.kind == EntryKind::kMarker) return entry.path == kMarkerName;
  const bool is_root = entry.path == ".";
  if (entry.kind == EntryKind::kRoot || (is_root && entry.kind == EntryKind::kIntent)) {
    return is_root;
  }
  const bool is_marker = entry.kind == EntryKind::kIntent || entry.kind == EntryKind::kVoid;
  return (is_marker && (is_root || entry.path == kMarkerName)) ||
         pattern::path_fault(entry.path) == nullptr;
}

std::optional<Entry> parse_line(std::string_view line, std::uint64_t since_ns) {
  Entry entry;
  const auto kind = next_word(line);
  if (!kind) return std::nullopt;
  const auto* word = std::find(kEntryWords.begin(), kEntryWords.end(), *kind);
  if (word == kEntryWords.end()) return std::nullopt;
  entry.kind = static_cast<EntryKind>(word - kEntryWords.begin());
  base::Identity& identity = entry.identity;
  if (!parse_number(next_word(line), identity.device)) return std::nullopt;
  if (!parse_number(next_word(line), identity.inode)) return std::nullopt;
  if (!parse_number(next_word(line), identity.birth_ns)) return std::nullopt;
  if (!parse_number(next_word(line), identity.mark)) return std::nullopt;
  entry.since_ns = entry.kind == EntryKind::kIntent ? identity.birth_ns : since_ns;
  if (is_items(entry.kind) && !parse_items(line, entry)) return std::nullopt;
  entry.path = line;
  return is_beneath(entry) ? std::optional(entry) : std::nullopt;
}

/// A file that nobody can have slipped in: regular, with one name, ours.
base::Descriptor open_own(int directory, const char* name) {
  base::Descriptor file(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  const bool fine = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_nlink == 1 && status.st_uid == ::geteuid();
  return fine ? std::move(file) : base::Descriptor();
}

/// As much of a file as there is, up to so many bytes from a place on.
std::string read_part(const base::Descriptor& file, std::size_t begin, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::pread(file.get(), text.data() + done, text.size() - done,
                                static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

std::optional<std::string> read_own(int directory, const char* name) {
  const base::Descriptor file = open_own(directory, name);
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  return read_part(file, 0, static_cast<std::size_t>(status.st_size));
}

bool bears(std::string_view text, const RunKey& key) {
  return text.size() >= Manifest::kFirstPosition && text.starts_with(header_of(key));
}

/// Calls with the name and the text of each manifest that bears the key.
template <class Action>
void for_each_manifest(int directory, std::string_view prefix, const RunKey& key,
                       const Action& action) {
  const int copy =
      directory < 0 ? -1 : ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, CloseDirectory> listing(::fdopendir(copy));
  if (!listing) {
    ::close(copy);
    return;
  }
  while (const dirent* item = ::readdir(listing.get())) {  // NOLINT: one thread
    if (!std::string_view(item->d_name).starts_with(prefix)) continue;
    const auto text = read_own(directory, item->d_name);
    if (text && bears(*text, key)) action(item->d_name, *text);
  }
}

base::Descriptor open_directory(const std::string& path) {
  return base::Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

template <class Action>
void for_all_manifests(const std::string& journal, const std::string& directory, const RunKey& key,
                       const Action& action) {
  const auto in = [&](const std::string& place, const char* prefix) {
    const base::Descriptor at = open_directory(place);
    for_each_manifest(at.get(), prefix, key, [&](const char* name, const std::string& text) {
      action(place, at.get(), name, text);
    });
  };
  in(journal, "manifest.");
  in(directory, ".manifest.");
}

}  // namespace

std::vector<Entry> parse_lines(std::string_view text, std::uint64_t since_ns) {
  std::vector<Entry> entries;
  text = text.substr(0, text.find('\0'));
  while (true) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return entries;
    if (auto entry = parse_line(text.substr(0, end), since_ns)) {
      entries.push_back(std::move(*entry));
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<Entry> parse_manifest(std::string_view text, const RunKey& key) {
  if (!bears(text, key)) return {};
  std::array<std::uint64_t, 3> moments{};
  std::memcpy(moments.data(), text.data() + kMomentsAt, sizeof moments);
  const auto [now_ns, begin_ns, begin_fs_ns] = moments;
  return parse_lines(text.substr(Manifest::kFirstPosition), begin_fs_ns + (now_ns - begin_ns));
}

std::vector<std::string> manifests_in(int directory, const RunKey& key) {
  std::vector<std::string> names;
  for_each_manifest(directory, ".manifest.", key,
                    [&](const char* name, const std::string&) { names.emplace_back(name); });
  return names;
}

std::vector<Entry> read_manifests(const std::string& journal, const std::string& directory,
                                  const RunKey& key) {
  std::vector<Entry> entries;
  for_all_manifests(journal, directory, key,
                    [&](const std::string&, int, const char*, const std::string& text) {
                      std::vector<Entry> some = parse_manifest(text, key);
                      entries.insert(entries.end(), std::make_move_iterator(some.begin()),
                                     std::make_move_iterator(some.end()));
                    });
  return entries;
}

void BlockLines::find(const std::string& journal, const std::string& directory, const RunKey& key,
                      const Entry& block) {
  lines_.clear();
  block_ = block;
  for_all_manifests(journal, directory, key,
                    [&](const std::string& place, int, const char* name, const std::string& whole) {
                      std::string_view text(whole);
                      text = text.substr(0, text.find('\0', Manifest::kFirstPosition));
                      for (std::size_t begin = Manifest::kFirstPosition; begin < text.size();) {
                        const std::size_t end = text.find('\n', begin);
                        if (end == std::string_view::npos) return;
                        if (is_of(block, text.substr(begin, end - begin))) {
                          lines_.push_back({place + "/" + name, begin, end - begin});
                        }
                        begin = end + 1;
                      }
                    });
}

bool BlockLines::is_of(const Entry& block, std::string_view line) {
  const auto entry = parse_line(line, 0);
  return entry && is_items(entry->kind) && is_same_block(*entry, block);
}

std::optional<unsigned char> BlockLines::count(const Entry& block, std::size_t place) const {
  if (!is_same_block(block_, block)) return std::nullopt;
  unsigned char sum = kSettled;
  for (const Line& one : lines_) {
    const base::Descriptor file = open_own(AT_FDCWD, one.file.c_str());
    const std::string line = file ? read_part(file, one.begin, one.bytes) : "";
    const auto entry = parse_line(line, 0);
    if (!entry || !is_items(entry->kind) || !is_same_block(*entry, block)) return std::nullopt;
    sum = sum_of(sum, static_cast<unsigned char>(entry->counts[place]));
  }
  return sum;
}

bool manifests_in_use(const std::string& journal, const std::string& directory, const RunKey& key) {
  bool in_use = false;
  for_all_manifests(
      journal, directory, key,
      [&](const std::string&, int at, const char* name, const std::string&) {
        const base::Descriptor file(::openat(at, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
        in_use |= file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      });
  return in_use;
}

std::vector<Entry> sum_items(const std::vector<Entry>& entries) {
  std::map<std::tuple<std::string, std::string, std::uint64_t>, Entry> sums;
  for (const Entry& entry : entries) {
    if (!is_items(entry.kind)) continue;
    const auto [found, is_new] =
        sums.try_emplace({entry.path, entry.block.names, entry.block.first}, entry);
    if (is_new) continue;
    Entry& sum = found->second;
    for (std::size_t i = 0; i < sum.counts.size(); ++i) {
      const auto two = static_cast<unsigned char>(entry.counts[i]);
      sum.counts[i] = static_cast<char>(sum_of(static_cast<unsigned char>(sum.counts[i]), two));
      if ((two & kPending) != 0) sum.since_ns = std::max(sum.since_ns, entry.since_ns);
    }
  }
  std::vector<Entry> all;
  all.reserve(sums.size());
  for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  return all;
}

}  // namespace venturi::execute

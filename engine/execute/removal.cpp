// The one implementation of removal: at the end of repetitions and runs, and after a crash.
#include "execute/removal.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "base/beneath.hpp"
#include "base/error.hpp"
#include "execute/key_stores.hpp"
#include "pattern/tree.hpp"

namespace venturi::execute {
namespace {

constexpr std::size_t kMostListed = 100;
/// A time of birth is at most a tick of the kernel's clock too early.
constexpr std::uint64_t kTickNs = 10'000'000;

/// Whether an open directory has no names. Storage with several servers answers for one at a time:
/// only an empty answer is the end.
bool is_empty(int directory) {
  const base::Descriptor copy(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(dirent64) std::array<char, 1024> names;
  if (!copy) return false;
  long bytes = 0;
  while ((bytes = ::syscall(SYS_getdents64, copy.get(), names.data(), names.size())) > 0) {
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(names.data() + at);
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") return false;
      at += entry->d_reclen;
    }
  }
  return bytes == 0;
}

bool was_born_since(const base::Identity& found, std::uint64_t since_ns) {
  return found.birth_ns != 0 && since_ns != 0 && found.birth_ns + kTickNs >= since_ns;
}

/// What the marker of a directory says; nothing where there is none that can be read.
std::optional<std::string> text_of_marker(int directory) {
  const base::Descriptor file(
      ::openat(directory, kMarkerName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::array<char, 4096> text;
  const ssize_t bytes = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (bytes < 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(bytes));
}

/// Why the marker does not say that the directory is this run's, and the errno where the storage
/// did not give it; empty where it does: it is the one that is listed, with the run's name in it.
struct Doubt {
  std::string text;
  int error = 0;
};

Doubt doubt_of_marker(const Remover& remover, const std::vector<Entry>& entries,
                      const std::string& run) {
  base::Identity found;
  const int error = base::identify(remover.root(), kMarkerName, found);
  if (error != 0) {
    return {fmt::format("its marker, {}, cannot be read: {}", kMarkerName,
                        std::generic_category().message(error)),
            error};
  }
  const bool is_listed = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.kind == EntryKind::kMarker && entry.is(found);
  });
  const auto text = text_of_marker(remover.root());
  if (found.regular && is_listed && text && *text == marker_text(run)) return {};
  return {fmt::format("its marker, {}, is not the one that the run made", kMarkerName)};
}

/// Removes a marker whose writer died before it was listed: in the run's directory, with no more
/// in it than what begins the marker.
void remove_begun_marker(Remover& remover, const std::string& run) {
  base::Identity found;
  const auto text = text_of_marker(remover.root());
  if (!text || !marker_text(run).starts_with(*text)) return;
  if (base::identify(remover.root(), kMarkerName, found) != 0) return;
  if (found.regular && found.links == 1) ::unlinkat(remover.root(), kMarkerName, 0);
}

/// The directory is listed, or it was about to be made, and was made then.
const Entry* find_root(std::vector<Entry>& entries, const std::string& directory) {
  const auto root = std::find_if(entries.begin(), entries.end(),
                                 [](const Entry& entry) { return entry.kind == EntryKind::kRoot; });
  if (root != entries.end()) return &*root;
  const auto intent = std::find_if(entries.begin(), entries.end(), [](const Entry& entry) {
    return entry.kind == EntryKind::kIntent && entry.path == ".";
  });
  base::Identity found;
  const base::Descriptor open(
      ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (intent == entries.end() || !open || base::identify(open.get(), "", found) != 0) {
    return nullptr;
  }
  // Without a time of birth only an empty one is taken: to remove that harms nobody.
  const bool ours =
      found.birth_ns != 0 ? was_born_since(found, intent->since_ns) : is_empty(open.get());
  if (!ours) return nullptr;
  intent->identity = found;
  return &*intent;
}

/// The intents that nothing behind them settles.
std::vector<Entry> open_intents(const std::vector<Entry>& entries) {
  std::set<std::string_view> settled;
  std::vector<Entry> open;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (is_items(entry->kind)) continue;
    if (entry->kind != EntryKind::kIntent) {
      settled.insert(entry->path);
    } else if (settled.insert(entry->path).second) {
      open.push_back(*entry);
    }
  }
  return open;
}

}  // namespace

bool is_directory(EntryKind kind) noexcept {
  return kind == EntryKind::kDirectory || kind == EntryKind::kTree ||
         kind == EntryKind::kStagedTree || kind == EntryKind::kKeptTree;
}

bool outlives_repetition(EntryKind kind) noexcept {
  return kind != EntryKind::kFile && kind != EntryKind::kDirectory && kind != EntryKind::kTree &&
         kind != EntryKind::kItems && kind != EntryKind::kIntent && kind != EntryKind::kVoid;
}

std::size_t depth_of(const std::string& path) noexcept {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

Remover::Remover(const std::string& directory, const Entry* root)
    : root_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
  base::Identity found;
  const bool ours =
      root_ && root != nullptr && base::identify(root_.get(), "", found) == 0 && root->is(found);
  owner_ = found.owner;
  if (!ours) root_ = base::Descriptor();
}

bool Remover::remove_file(const Entry& entry) { return remove(entry, 0); }

bool Remover::remove_directory(const Entry& entry) { return remove(entry, AT_REMOVEDIR); }

bool Remover::take(int directory, const char* name, int flags) {
  if (::unlinkat(directory, name, flags) == 0) {
    ++removed_;
    return true;
  }
  const int refusal = errno;
  note(refusal);
  return refusal == ENOENT;
}

bool Remover::remove(const Entry& entry, int flags) {
  const base::Place place(root_.get(), entry.path.c_str());
  base::Identity found;
  const int error =
      place.error() != 0 ? place.error() : base::identify(place.directory(), place.name(), found);
  if (error != 0) {
    note(error);
    return error == ENOENT;
  }
  if (!entry.is(found)) return true;  // a name that is no longer ours is not our business
  return take(place.directory(), place.name(), flags);
}

bool Remover::remove_items(const Entry& entry) {
  const auto parts = pattern::names_of(entry.block.names);
  const base::Descriptor directory(base::open_beneath(
      root_.get(), entry.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) {
    note(errno);
    return errno == ENOENT;
  }
  base::Identity found;
  if (!parts || base::identify(directory.get(), "", found) != 0 || !entry.is(found) ||
      is_empty(directory.get())) {
    return true;
  }
  pattern::TreeName name(*parts, {});
  bool gone = true;
  for (std::size_t i = 0; i < entry.counts.size(); ++i) {
    const auto count = static_cast<unsigned char>(entry.counts[i]);
    if (!is_made(count) && (count & kPending) == 0) continue;
    const ItemBlock& block = entry.block;
    const std::uint64_t index = block.first + i;
    gone &= remove_item(directory.get(),
                        name(block.node, block.node * block.per_node + index, index), entry, count);
  }
  return gone;
}

/// What has another type or another owner took the name, and what may not have been made by us is
/// ours only if it was born then.
bool Remover::remove_item(int directory, const char* name, const Entry& entry,
                          unsigned char count) {
  base::Identity found;
  if (!is_made(count)) {
    if (base::identify(directory, name, found) != 0) return true;
    if (!was_born_since(found, entry.since_ns)) return true;
  }
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    note(errno);
    return errno == ENOENT;
  }
  const bool fits = entry.block.directories ? S_ISDIR(status.st_mode)
                                            : S_ISREG(status.st_mode) || S_ISLNK(status.st_mode);
  const bool is_link = entry.block.names.ends_with(pattern::kSymlinkSuffix);
  if (!fits || status.st_uid != owner_ || S_ISLNK(status.st_mode) != is_link) return true;
  return take(directory, name, entry.block.directories ? AT_REMOVEDIR : 0);
}

void Remover::remove_intended(const std::vector<Entry>& entries) {
  for (const Entry& intent : open_intents(entries)) {
    if (intent.path != "." && intent.path != kMarkerName) remove_intended(intent, entries);
  }
}

void Remover::remove_intended(const Entry& intent, const std::vector<Entry>& listed) {
  const base::Place place(root_.get(), intent.path.c_str());
  base::Identity found;
  if (place.error() != 0 || base::identify(place.directory(), place.name(), found) != 0) return;
  const bool is_renamed = std::any_of(listed.begin(), listed.end(), [&](const Entry& entry) {
    return entry.kind != EntryKind::kIntent && !is_items(entry.kind) && entry.is(found);
  });
  const bool is_new = was_born_since(found, intent.since_ns) && found.owner == owner_;
  if (!is_renamed && !is_new) return;
  if (found.directory) {
    take(place.directory(), place.name(), AT_REMOVEDIR);
  } else if (found.regular) {
    take(place.directory(), place.name(), 0);
  }
}

void Remover::note(int error) noexcept {
  if (error == 0 || error == ENOENT || error == ENOTEMPTY || error == EEXIST) return;
  if (refused_++ == 0) why_ = error;
}

Leftover list_left(const std::string& directory, const RunKey& key) {
  const base::Descriptor root(
      ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const std::vector<std::string> own = manifests_in(root.get(), key);
  const auto is_ours = [&own](const std::string& name) {
    return name == kMarkerName || std::find(own.begin(), own.end(), name) != own.end();
  };
  Leftover left;
  std::error_code error;
  std::filesystem::recursive_directory_iterator walk(directory, error);
  const std::filesystem::recursive_directory_iterator end;
  for (; !error && walk != end; walk.increment(error)) {
    if (walk->is_directory(error) && !walk->is_symlink(error) &&
        !std::filesystem::is_empty(walk->path(), error)) {
      continue;
    }
    const std::string path = walk->path().lexically_relative(directory);
    if (is_ours(path)) continue;
    ++left.count;
    if (left.paths.size() < kMostListed) left.paths.push_back(path);
  }
  return left;
}

bool remove_root(Remover& remover, const std::vector<Entry>& entries, const std::string& directory,
                 const RunKey& key) {
  if (!remover.reachable() || list_left(directory, key).count > 0) return false;
  for (const Entry& entry : entries) {
    if (entry.kind == EntryKind::kMarker && !entry.identity.is_key()) remover.remove_file(entry);
  }
  for (const std::string& name : manifests_in(remover.root(), key)) {
    ::unlinkat(remover.root(), name.c_str(), 0);
  }
  if (::rmdir(directory.c_str()) == 0) return true;
  remover.note(errno);
  return false;
}

namespace {

/// Removes what is listed in a directory that surely is the run's.
void remove_listed(Remover& remover, std::vector<Entry> entries, Kept kept) {
  const auto stays = [kept](EntryKind kind) {
    return kept == Kept::kStay && (kind == EntryKind::kKept || kind == EntryKind::kKeptTree ||
                                   kind == EntryKind::kKeptItems);
  };
  for (const Entry& block : sum_items(entries)) {
    if (!stays(block.kind)) remover.remove_items(block);
  }
  remover.remove_intended(entries);
  std::erase_if(entries, [&](const Entry& entry) {
    if (entry.identity.is_key()) return true;
    const bool is_name = entry.kind == EntryKind::kFile || entry.kind == EntryKind::kStagedFile ||
                         entry.kind == EntryKind::kKept;
    if (!is_name) return !is_directory(entry.kind);
    // A kept name may be a directory; its turn comes with the others.
    return stays(entry.kind) || remover.remove_file(entry);
  });
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return depth_of(a.path) > depth_of(b.path);
  });
  for (const Entry& entry : entries) {
    if (!stays(entry.kind)) remover.remove_directory(entry);
  }
}

/// Names of the run that are there, or of which the storage does not say whether they are.
std::uint64_t count_there(const Remover& remover, const std::vector<Entry>& entries) {
  return static_cast<std::uint64_t>(
      std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        if (entry.kind == EntryKind::kRoot || entry.kind == EntryKind::kMarker) return false;
        if (entry.kind == EntryKind::kIntent || entry.kind == EntryKind::kVoid) return false;
        const base::Place place(remover.root(), entry.path.c_str());
        base::Identity found;
        const int error = place.error() != 0
                              ? place.error()
                              : base::identify(place.directory(), place.name(), found);
        return error == 0 ? entry.is(found) : error != ENOENT;
      }));
}

/// What the run has on servers does not depend on its directory.
Leftover clean_keys(const schema::Plan& plan, const RunKey& key, const std::vector<Entry>& entries,
                    Kept kept) {
  KeyStores stores;
  stores.make(plan, key);
  stores.remove_all(entries, kept == Kept::kGo);
  Leftover left;
  for (const KeyStores::Remaining& each : stores.list()) {
    ++left.count;
    if (left.paths.size() < kMostListed) left.paths.push_back(each.location);
  }
  stores.release();
  left.removed = stores.removed();
  left.refused = stores.refused();
  left.why = stores.why();
  return left;
}

void add_keys(Leftover& left, const Leftover& keys) {
  left.removed += keys.removed;
  left.count += keys.count;
  left.paths.insert(left.paths.end(), keys.paths.begin(), keys.paths.end());
  if (left.refused == 0) left.why = keys.why;
  left.refused += keys.refused;
}

}  // namespace

Leftover clean(const std::string& journal, const schema::Plan& plan, Kept kept) {
  const std::string& directory = plan.directory;
  const std::optional<RunKey> key = read_key(journal);
  if (!key) return {};  // the run made nothing
  if (manifests_in_use(journal, directory, *key)) {
    throw base::Error({.code = "fault",
                       .message = "a process of this run is still alive",
                       .hint = "end it first, then clean again",
                       .where = journal});
  }
  std::vector<Entry> entries = read_manifests(journal, directory, *key);
  Leftover keys = clean_keys(plan, *key, entries, kept);
  const Entry* root = find_root(entries, directory);
  Remover remover(directory, root);
  if (!remover.reachable()) return keys;
  const Doubt doubt = doubt_of_marker(remover, entries, plan.run);
  if (doubt.text.empty()) {
    remove_listed(remover, entries, kept);
  } else {
    remove_begun_marker(remover, plan.run);
  }
  remove_root(remover, entries, directory, *key);
  Leftover left = list_left(directory, *key);
  left.removed = remover.removed();
  left.refused = remover.refused();
  left.why = std::generic_category().message(remover.why());
  left.doubt = doubt.text;
  if (doubt.error != 0 && doubt.error != ENOENT) {
    left.refused = count_there(remover, entries);
    left.why = doubt.text;
  }
  add_keys(left, keys);
  return left;
}

}  // namespace venturi::execute

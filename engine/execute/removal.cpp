// The one implementation of removal: at the end of repetitions and runs, and after a crash.
#include "execute/removal.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "base/beneath.hpp"
#include "base/error.hpp"

namespace venturi::execute {
namespace {

constexpr std::size_t kMostListed = 100;

/// Names of our own book-keeping in the run's directory.
bool is_ours(const std::filesystem::path& relative) {
  const std::string name = relative.string();
  return name == kMarkerName || name.starts_with(".manifest.");
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

bool is_directory(EntryKind kind) noexcept {
  return kind == EntryKind::kDirectory || kind == EntryKind::kTree ||
         kind == EntryKind::kStagedTree || kind == EntryKind::kKeptTree;
}

bool outlives_repetition(EntryKind kind) noexcept {
  return kind != EntryKind::kFile && kind != EntryKind::kDirectory && kind != EntryKind::kTree;
}

std::size_t depth_of(const std::string& path) noexcept {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

TreeNames::TreeNames(const std::vector<schema::File>& files) {
  for (const schema::File& file : files) {
    if (!file.tree) continue;
    const bool directory = file.tree->kind == schema::ItemKind::kDirectory;
    (directory ? directories_ : files_).emplace_back(pattern::item_name_parts(*file.tree));
  }
}

bool TreeNames::has_file(std::string_view name) const {
  return std::any_of(files_.begin(), files_.end(), [name](const pattern::NameShape& shape) {
    return shape.matches(name) || shape.matches_with(name, pattern::kLinkSuffix) ||
           shape.matches_with(name, pattern::kAsideSuffix);
  });
}

bool TreeNames::has_symlink(std::string_view name) const {
  return std::any_of(files_.begin(), files_.end(), [name](const pattern::NameShape& shape) {
    return shape.matches_with(name, pattern::kSymlinkSuffix);
  });
}

bool TreeNames::has_directory(std::string_view name) const {
  return std::any_of(
      directories_.begin(), directories_.end(), [name](const pattern::NameShape& shape) {
        return shape.matches(name) || shape.matches_with(name, pattern::kAsideSuffix);
      });
}

Remover::Remover(const std::string& directory, const Entry* root, TreeNames names)
    : names_(std::move(names)),
      root_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
  base::Identity found;
  const bool ours =
      root_ && root != nullptr && base::identify(root_.get(), "", found) == 0 && root->is(found);
  if (!ours) root_ = base::Descriptor();
}

bool Remover::remove_file(const Entry& entry) { return remove(entry, 0); }

bool Remover::remove_directory(const Entry& entry) { return remove(entry, AT_REMOVEDIR); }

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
  if (is_directory(entry.kind) && entry.kind != EntryKind::kDirectory) {
    remove_items(place.directory(), place.name());
  }
  if (::unlinkat(place.directory(), place.name(), flags) != 0) {
    const int refusal = errno;
    note(refusal);
    return refusal == ENOENT;
  }
  ++removed_;
  return true;
}

void Remover::note(int error) noexcept {
  if (error == 0 || error == ENOENT || error == ENOTEMPTY || error == EEXIST) return;
  if (refused_++ == 0) why_ = error;
}

void Remover::remove_items(int parent, const char* name) {
  const int descriptor = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    note(errno);
    return;
  }
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(descriptor));
  if (!directory) {
    ::close(descriptor);
    return;
  }
  errno = 0;
  while (const dirent* item = ::readdir(directory.get())) {  // NOLINT: one thread
    remove_item(::dirfd(directory.get()), item->d_name, item->d_type);
    errno = 0;
  }
  note(errno);
}

void Remover::remove_item(int directory, const char* name, unsigned char type) {
  struct stat status{};
  if (type == DT_UNKNOWN && ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    type = static_cast<unsigned char>(IFTODT(status.st_mode));
  }
  const bool ours = (type == DT_REG && names_.has_file(name)) ||
                    (type == DT_LNK && names_.has_symlink(name)) ||
                    (type == DT_DIR && names_.has_directory(name));
  if (!ours) return;
  if (::unlinkat(directory, name, type == DT_DIR ? AT_REMOVEDIR : 0) == 0) {
    ++removed_;
  } else {
    note(errno);
  }
}

Leftover list_left(const std::string& directory) {
  Leftover left;
  std::error_code error;
  std::filesystem::recursive_directory_iterator walk(directory, error);
  const std::filesystem::recursive_directory_iterator end;
  for (; !error && walk != end; walk.increment(error)) {
    if (walk->is_directory(error) && !std::filesystem::is_empty(walk->path(), error)) continue;
    if (is_ours(walk->path().lexically_relative(directory))) continue;
    ++left.count;
    if (left.paths.size() < kMostListed) {
      left.paths.push_back(walk->path().lexically_relative(directory));
    }
  }
  return left;
}

bool remove_root(Remover& remover, const std::vector<Entry>& entries,
                 const std::string& directory) {
  if (!remover.reachable() || list_left(directory).count > 0) return false;
  for (const Entry& entry : entries) {
    if (entry.kind == EntryKind::kMarker) remover.remove_file(entry);
  }
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(directory, error)) {
    if (is_ours(item.path().filename())) ::unlink(item.path().c_str());
  }
  if (::rmdir(directory.c_str()) == 0) return true;
  remover.note(errno);
  return false;
}

Leftover clean(const std::string& journal, const schema::Plan& plan, Kept kept) {
  const std::string& directory = plan.directory;
  if (manifests_in_use(journal, directory)) {
    throw base::Error({.code = "fault",
                       .message = "a process of this run is still alive",
                       .hint = "end it first, then clean again",
                       .where = journal});
  }
  std::vector<Entry> entries = read_manifests(journal, directory);
  const auto root = std::find_if(entries.begin(), entries.end(),
                                 [](const Entry& entry) { return entry.kind == EntryKind::kRoot; });
  Remover remover(directory, root == entries.end() ? nullptr : &*root, TreeNames(plan.files));
  if (!remover.reachable()) return {};
  const auto stays = [kept](EntryKind kind) {
    return kept == Kept::kStay && (kind == EntryKind::kKept || kind == EntryKind::kKeptTree);
  };
  std::erase_if(entries, [&](const Entry& entry) {
    const bool special = entry.kind == EntryKind::kMarker || entry.kind == EntryKind::kRoot;
    if (special || is_directory(entry.kind)) return false;
    // A kept name may be a directory; its turn comes with the others.
    return stays(entry.kind) || remover.remove_file(entry);
  });
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return depth_of(a.path) > depth_of(b.path);
  });
  for (const Entry& entry : entries) {
    const bool directory_too = is_directory(entry.kind) || entry.kind == EntryKind::kKept;
    if (directory_too && !stays(entry.kind)) remover.remove_directory(entry);
  }
  remove_root(remover, entries, directory);
  Leftover left = list_left(directory);
  left.removed = remover.removed();
  left.refused = remover.refused();
  left.why = remover.why();
  return left;
}

}  // namespace venturi::execute

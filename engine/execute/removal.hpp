// Taking away what we made, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "execute/manifest.hpp"
#include "pattern/tree.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// The file in a run's directory that says whose it is.
inline constexpr const char* kMarkerName = ".venturi";

/// The names that the trees of a plan give to items.
class TreeNames {
 public:
  TreeNames() = default;
  explicit TreeNames(const std::vector<schema::File>& files);
  /// Whether a name in a directory of a tree is ours, if it is of this kind.
  [[nodiscard]] bool has_file(std::string_view name) const;
  [[nodiscard]] bool has_symlink(std::string_view name) const;
  [[nodiscard]] bool has_directory(std::string_view name) const;

 private:
  std::vector<pattern::NameShape> files_;
  std::vector<pattern::NameShape> directories_;
};

/// Removes listed names below one directory. Before each removal the name must still be the
/// file or directory that the manifest lists; a name that became something else stays.
class Remover {
 public:
  /// Opens the directory; if it is gone or another one, there is nothing to remove.
  Remover(const std::string& directory, const Entry* root, TreeNames names);

  /// Removes a file; true if it is gone now.
  bool remove_file(const Entry& entry);
  /// Removes a directory if it is empty, once the items of a tree are gone; true if it is gone.
  bool remove_directory(const Entry& entry);
  [[nodiscard]] std::uint64_t removed() const noexcept { return removed_; }
  [[nodiscard]] bool reachable() const noexcept { return static_cast<bool>(root_); }
  /// Names of ours that the storage did not let go, and the errno of the first.
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
  [[nodiscard]] int why() const noexcept { return why_; }
  /// Notes what a removal came to; what is gone, or holds names of others, is no refusal.
  void note(int error) noexcept;

 private:
  bool remove(const Entry& entry, int flags);
  void remove_items(int parent, const char* name);
  void remove_item(int directory, const char* name, unsigned char type);

  TreeNames names_;
  base::Descriptor root_;
  std::uint64_t removed_ = 0;
  std::uint64_t refused_ = 0;
  int why_ = 0;
};

/// Whether the entry is a directory that may be removed.
[[nodiscard]] bool is_directory(EntryKind kind) noexcept;
/// Whether the entry lasts longer than a repetition.
[[nodiscard]] bool outlives_repetition(EntryKind kind) noexcept;
/// How many directories are above a path.
[[nodiscard]] std::size_t depth_of(const std::string& path) noexcept;

/// What a removal left behind.
struct Leftover {
  std::uint64_t removed = 0;
  /// At most 100 paths relative to the directory.
  std::vector<std::string> paths;
  std::uint64_t count = 0;
  /// Of ours, because the storage fails; and with which errno first.
  std::uint64_t refused = 0;
  int why = 0;
};

/// The names below a directory that are still there; none if the directory is gone.
Leftover list_left(const std::string& directory);

/// Removes the marker and the directory itself, if nothing else is in it; true if it is gone.
bool remove_root(Remover& remover, const std::vector<Entry>& entries, const std::string& directory);

/// What happens to the files that the plan wanted to keep.
enum class Kept : std::uint8_t { kStay, kGo };

/// Removes everything that the manifests of a dead run list, at last the directory itself.
/// Throws base::Error (exit 3) if a process of the run is still alive.
Leftover clean(const std::string& journal, const schema::Plan& plan, Kept kept);

}  // namespace venturi::execute

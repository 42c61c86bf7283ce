// Taking away what we made, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "execute/manifest.hpp"
#include "execute/manifest_words.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// Removes listed names below one directory. Before each removal the name must still be the
/// file or directory that the manifest lists; a name that became something else stays.
class Remover {
 public:
  /// Opens the directory; if it is gone or another one, there is nothing to remove.
  Remover(const std::string& directory, const Entry* root);

  /// Removes a file; true if it is gone now.
  bool remove_file(const Entry& entry);
  /// Removes a directory if it is empty; true if it is gone.
  bool remove_directory(const Entry& entry);
  /// Removes the items that are counted; true if none of them is there any more.
  bool remove_items(const Entry& entry);
  /// Removes what was about to be made by these entries and is not listed behind that, if it surely
  /// was made: if it is another one of them under a new name, or was born afterwards.
  void remove_intended(const std::vector<Entry>& entries);

  [[nodiscard]] std::uint64_t removed() const noexcept { return removed_; }
  [[nodiscard]] bool reachable() const noexcept { return static_cast<bool>(root_); }
  /// The open directory, or -1.
  [[nodiscard]] int root() const noexcept { return root_.get(); }
  /// Names of ours that the storage did not let go, and the errno of the first.
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
  [[nodiscard]] int why() const noexcept { return why_; }
  /// Notes what a removal came to; what is gone, or holds names of others, is no refusal.
  void note(int error) noexcept;

 private:
  void remove_intended(const Entry& intent, const std::vector<Entry>& listed);
  bool remove(const Entry& entry, int flags);
  bool remove_item(int directory, const char* name, const Entry& entry, unsigned char count);
  bool take(int directory, const char* name, int flags);

  base::Descriptor root_;
  /// Whose the directory is, and so what the run makes in it.
  std::uint64_t owner_ = 0;
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
  /// At most 100 paths relative to the directory, and as many addresses of keys.
  std::vector<std::string> paths;
  std::uint64_t count = 0;
  /// Of ours, because the storage fails.
  std::uint64_t refused = 0;
  /// The reason for the first of them.
  std::string why;
  /// Why nothing listed was removed: the directory may be somebody else's. Else empty.
  std::string doubt;
};

/// The names below a directory that are still there, but those that the run needs itself; none if
/// the directory is gone.
Leftover list_left(const std::string& directory, const RunKey& key);

/// Removes the marker and the directory itself, if nothing else is in it; true if it is gone.
bool remove_root(Remover& remover, const std::vector<Entry>& entries, const std::string& directory,
                 const RunKey& key);

/// What happens to the files that the plan wanted to keep.
enum class Kept : std::uint8_t { kStay, kGo };

/// Removes everything that the manifests of a dead run list, at last the directory itself.
/// Throws base::Error (exit 3) if a process of the run is still alive.
Leftover clean(const std::string& journal, const schema::Plan& plan, Kept kept);

}  // namespace venturi::execute

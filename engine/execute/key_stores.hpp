// The keyed storages of a run: their markers, and the removal of what the run made there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "execute/manifest.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// Each place of keys once, however many files of the plan are there.
class KeyStores {
 public:
  /// Uses a storage for as long as it lives; one of files in directories is passed over.
  void add(backend::Backend& storage);
  /// Makes the storages of a plan, for a run that is over. One that cannot be made is noted.
  void make(const schema::Plan& plan, const RunKey& key);

  /// Makes the marker at each place, and lists it. Throws base::Error (exit 5).
  void claim(Manifest& manifest, const std::string& run);

  /// Removes what an entry lists; true if it is gone.
  bool remove(const Entry& entry);
  /// Removes everything that is listed or was about to be made. A marker goes when nothing of the
  /// run is left beside it.
  void remove_all(const std::vector<Entry>& entries, bool with_kept);

  /// What stays at the end of a run.
  struct End {
    /// The addresses of the run's own objects.
    std::vector<std::string> kept;
    std::vector<std::string> warnings;
  };
  /// Lists what is there, and removes the markers of places that hold nothing else. `entries` are
  /// those of all ranks.
  End finish(const std::vector<Entry>& entries);

  /// The names that are there but the markers.
  struct Remaining {
    std::string name;
    std::string location;
  };
  std::vector<Remaining> list();
  /// Removes the markers of places that hold nothing else; after `list`.
  void release();

  [[nodiscard]] std::uint64_t removed() const noexcept { return removed_; }
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
  /// The reason for the first refusal.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  [[nodiscard]] backend::KeySpace* find(std::uint64_t place) const noexcept;
  void refuse(const std::string& why);
  bool settle(int error, const backend::KeySpace& space);

  std::vector<backend::KeySpace*> spaces_;
  /// Places that hold nothing but their marker.
  std::vector<backend::KeySpace*> empty_;
  std::vector<std::unique_ptr<backend::Backend>> made_;
  std::uint64_t removed_ = 0;
  std::uint64_t refused_ = 0;
  std::string why_;
};

}  // namespace venturi::execute

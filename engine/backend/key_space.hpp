// What a run must know of a storage without directories, so that it owns its keys and removes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/beneath.hpp"

namespace venturi::backend {

/// The names that one run has in one container of a server. Each object bears the run's random key,
/// and the names stay below a prefix that is the run's own. Functions that can fail return an
/// errno, 0 meaning success; `complaint` then says more.
class KeySpace {
 public:
  KeySpace() = default;
  KeySpace(const KeySpace&) = delete;
  KeySpace& operator=(const KeySpace&) = delete;
  virtual ~KeySpace() = default;

  /// Stands for the server, the container and the prefix: the device of all identities.
  [[nodiscard]] virtual std::uint64_t place() const noexcept = 0;
  /// A name as people write it; of an empty one, the place of all of them.
  [[nodiscard]] virtual std::string location(const std::string& name) const = 0;

  /// Makes the marker of the run; EEXIST if somebody has the prefix.
  virtual int claim(const std::string& marker, const std::string& text, base::Identity& out) = 0;
  /// Removes an object that bears the run's key, and ends uploads of that name; another one stays.
  virtual int remove(const std::string& name) = 0;
  /// The names of all objects and unfinished uploads below the prefix.
  virtual int list(std::vector<std::string>& names) = 0;
  [[nodiscard]] virtual const char* complaint() const noexcept = 0;
};

}  // namespace venturi::backend

// What the run's directory lies on: noted when it is made, and compared before and after phases.
#pragma once

#include <optional>
#include <string>

#include "base/beneath.hpp"
#include "schema/event.hpp"

namespace venturi::execute {

/// A directory that must stay what it is. If a mount vanishes, its path leads to another storage,
/// and what was measured is no longer what was asked for.
class Target {
 public:
  /// Notes what the directory is. Throws base::Error (exit 5) if it cannot be looked at, or if it
  /// does not lie on the type of file system that is expected (empty: any).
  Target(std::string directory, const std::string& expected_type);

  /// Looks again. Never throws: what cannot be looked at has changed.
  void look();
  /// What the last look found.
  [[nodiscard]] const schema::TargetFacts& facts() const noexcept { return now_.facts; }
  /// How the last look differs from the first one; empty if it is the same.
  [[nodiscard]] std::string change() const;

 private:
  struct State {
    schema::TargetFacts facts;
    base::Identity identity;
    int error = 0;
  };

  [[nodiscard]] State see() const;

  std::string directory_;
  State first_;
  State now_;
};

/// One mount, as a line of /proc/self/mountinfo says it.
struct Mount {
  std::uint64_t id = 0;
  std::string device;
  std::string point;
  std::string type;
  std::string source;
};

/// The mount of a line, or nothing if the line has another form.
std::optional<Mount> parse_mount(const std::string& line);

}  // namespace venturi::execute

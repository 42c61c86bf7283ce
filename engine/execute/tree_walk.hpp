// Looking at the names below a directory, piece by piece: a directory, or some names of one.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "execute/context.hpp"
#include "execute/work_stealing_queue.hpp"

namespace venturi::execute {

/// What a name must be to be found; what is absent does not matter.
struct FindCriteria {
  /// A pattern of the shell; empty: any.
  std::string name;
  std::optional<std::uint64_t> bytes;
  /// Changed later than this.
  std::optional<timespec> after;

  [[nodiscard]] bool needs_status() const noexcept { return bytes || after; }
};

/// One rank's part of a walk.
class TreeWalk {
 public:
  /// `top` is the directory that all paths are below. Throws base::Error (exit 3) if it cannot be
  /// opened.
  TreeWalk(Context& context, WorkStealingQueue& queue, const std::string& top,
           FindCriteria criteria, bool ours);

  /// The piece with which one rank begins.
  [[nodiscard]] static std::string first_piece() { return std::string(1, '\0'); }
  /// Reads the directory, or looks at the names. New pieces go into the bag. A directory or name
  /// that is gone is no failure; anything else is.
  void look(const std::string& piece);

 private:
  void read(int directory, const std::string& path);
  void look_at_name(int directory, const std::string& path, const char* name, unsigned char type);
  void look_at_status(int directory, const std::string& path, const char* name);
  void put_names(int directory, const std::string& path);
  void count(bool fits);
  [[nodiscard]] bool has_name(const char* name) const;
  [[nodiscard]] bool fits(const struct stat& status) const;
  void fail(const std::string& path, int error);
  base::Descriptor open(const std::string& path) const;

  Context& context_;
  WorkStealingQueue& queue_;
  FindCriteria criteria_;
  /// In the run's own directory there is a name that no workload made.
  bool ours_;
  base::Descriptor top_;
  /// Names of the directory being read whose status must be asked for, each with a zero behind it.
  std::string names_;
  std::size_t waiting_ = 0;
  std::uint64_t last_ns_ = 0;
};

}  // namespace venturi::execute

// What storages without directories have in common.
#pragma once

#include <cerrno>

#include "backend/backend.hpp"
#include "backend/key_space.hpp"

namespace venturi::backend {

/// Objects of a server by key: no cache of this host is in the way, and there are no directories.
class KeyedStorage : public Backend, protected KeySpace {
 public:
  [[nodiscard]] Traits traits() const noexcept override {
    return {.real_files = true, .bypasses_cache = true, .is_keyed = true};
  }
  [[nodiscard]] KeySpace* key_space() noexcept override { return this; }

  int open_directory(const char*, Directory&) override { return ENOTSUP; }
  void close_directory(Directory) noexcept override {}
  int make_directory(Directory, const char*) override { return ENOTSUP; }
  int remove_directory(Directory, const char*) override { return ENOTSUP; }
};

}  // namespace venturi::backend

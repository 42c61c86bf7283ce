// How new files are laid out over servers, on the file systems that let their users choose.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schema/event.hpp"
#include "schema/plan.hpp"

namespace venturi::backend {

/// Makes files with stripes on one file system.
class Striping {
 public:
  Striping() = default;
  Striping(const Striping&) = delete;
  Striping& operator=(const Striping&) = delete;
  virtual ~Striping() = default;

  /// Makes a file that must not exist below an open directory and opens it with `flags` (without
  /// those that make it), following no link. A descriptor, or -1 and errno; then there is no file.
  [[nodiscard]] virtual int make(int directory, const char* path, int flags, mode_t mode) const = 0;
  /// What a file has: `stripe_count` and `stripe_size`; nothing where that cannot be read.
  [[nodiscard]] virtual std::vector<schema::Fact> granted(int descriptor) const = 0;
  /// What a refusal of these stripes probably means.
  [[nodiscard]] virtual const char* hint() const noexcept = 0;
};

/// The striping of the file system that holds an open directory, named `directory` in messages.
/// Throws base::Error (exit 5) where users cannot choose it, or not so.
[[nodiscard]] std::unique_ptr<Striping> make_striping(int descriptor, const std::string& directory,
                                                      const schema::Stripe& stripe);

}  // namespace venturi::backend

// The contract of a storage interface: handles, names, and batches of requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/beneath.hpp"
#include "base/clock.hpp"
#include "schema/plan.hpp"

namespace venturi::backend {

/// One transfer between memory and an open file.
struct Request {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::byte* data = nullptr;
};

/// How a request ended. `bytes` may be fewer than wanted without an error.
struct Completion {
  std::uint64_t end_ns = 0;
  std::uint64_t bytes = 0;
  int error = 0;
};

/// An open file, in the backend's own terms.
using Handle = std::int64_t;
/// An open directory; 0 or more. The run's directory is `Backend::kRoot`.
using Directory = std::int64_t;

enum class OpenMode : std::uint8_t {
  /// Must not exist yet.
  kCreate,
  kReadWrite,
  /// Somebody else's, for reading only; what is no file does not make the engine wait.
  kRead,
  /// Exists, and loses its content; EEXIST if it is no file, or has other names, too.
  kTruncate,
};

using base::Identity;

/// What a backend needs from the engine.
struct Environment {
  base::Clock* clock = nullptr;
  /// Called in every wait; throws when the run ends.
  std::function<void()> poll;
  std::string root;
  std::size_t rank = 0;
  /// Contents matter: they will be read back and checked.
  bool keep_contents = false;
};

/// What the engine must know of a backend to treat it rightly.
struct Traits {
  /// Makes files that stay after the run unless they are removed.
  bool real_files = false;
  /// Passes by the operating system's page cache.
  bool bypasses_cache = false;
};

/// One instance serves one file entry of a plan on one rank. Functions that can fail return an
/// errno, 0 meaning success. None of them is called between two requests of a batch.
class Backend {
 public:
  static constexpr Directory kRoot = -1;

  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual Traits traits() const noexcept = 0;

  virtual int open_directory(const char* path, Directory& out) = 0;
  virtual void close_directory(Directory directory) noexcept = 0;

  virtual int open(Directory at, const char* name, OpenMode mode, Handle& out) = 0;
  virtual int close(Handle file) = 0;
  virtual int sync(Handle file, schema::SyncMode mode) = 0;
  /// What an open file or directory is; ENOTSUP where nothing real exists.
  virtual int identify(Handle file, Identity& out) = 0;

  virtual int stat(Directory at, const char* name, Identity& out) = 0;
  virtual int unlink(Directory at, const char* name) = 0;
  virtual int make_directory(Directory at, const char* name) = 0;
  virtual int remove_directory(Directory at, const char* name) = 0;

  /// Does the requests in order and reads the clock after each one, so that the end of one is
  /// the beginning of the next. Stops after the first that failed or was short; returns how many
  /// completions it wrote, at least one.
  virtual std::size_t submit(Handle file, schema::Direction direction,
                             std::span<const Request> requests,
                             std::span<Completion> completions) = 0;

  /// Whether this storage can know the bytes: if not, a read that brought others proves nothing.
  [[nodiscard]] virtual bool knows(Handle, const Request&) const noexcept { return true; }
  /// What a failure of this backend probably means, or nothing.
  [[nodiscard]] virtual const char* hint(int) const noexcept { return ""; }
};

}  // namespace venturi::backend

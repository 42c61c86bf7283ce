// The contract of a storage interface: handles, names, and batches of requests.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/key_space.hpp"
#include "base/beneath.hpp"
#include "base/clock.hpp"
#include "comm/group.hpp"
#include "pattern/nest.hpp"
#include "pattern/piece.hpp"
#include "schema/event.hpp"
#include "schema/plan.hpp"

namespace venturi::backend {

/// One transfer between memory and an open file.
struct Request {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::byte* data = nullptr;
  /// Where the data belongs in a dataset; null for bytes at an offset. A file that shows places
  /// (`Backend::show`) has the bytes of a box one behind the other there, from `offset` on.
  const pattern::Box* box = nullptr;
};

/// How a request ended. `bytes` may be fewer than wanted without an error.
struct Completion {
  std::uint64_t end_ns = 0;
  std::uint64_t bytes = 0;
  int error = 0;
  /// Of a call together: the time inside of calls for all sharers, on the rank that makes them.
  std::uint64_t serving_ns = 0;
};

/// How a request ended that was begun earlier.
struct Done {
  std::uint32_t tag = 0;
  Completion completion;
};

/// An open file, in the backend's own terms.
using Handle = std::int64_t;
/// An open directory; 0 or more. The run's directory is `Backend::kRoot`.
using Directory = std::int64_t;

/// What a copy of an open file came to.
struct Copied {
  std::uint64_t bytes = 0;
  /// No byte was moved: both files have the same blocks.
  bool shares_blocks = false;
};

enum class OpenMode : std::uint8_t {
  /// Must not exist yet.
  kCreate,
  kReadWrite,
  /// Somebody else's, for reading only; what is no file does not make the engine wait.
  kRead,
  /// Exists, and loses its content; EEXIST if it is no file, or has other names, too.
  kTruncate,
};

/// What can be set of a file's status.
enum class StatusPart : std::uint8_t { kMode, kOwner, kTimes };

using base::Identity;

/// Told of a file that a backend made beside the one it was asked for: its path, and what it is.
using MadeFile =
    std::function<void(const schema::File& of, const std::string& path, const Identity&)>;

/// What a backend needs from the engine.
struct Environment {
  base::Clock* clock = nullptr;
  /// Called in every wait; throws when the run ends.
  std::function<void()> poll;
  std::string root;
  std::size_t rank = 0;
  /// Among the ranks of all groups.
  std::size_t world_rank = 0;
  MadeFile made;
  /// Contents matter: they will be read back and checked.
  bool keep_contents = false;
  /// The entry of the plan that this instance serves.
  const schema::File* file = nullptr;
  /// The random key of the run in words; only who knows it made an object with it.
  std::string owner_key;
  /// The ranks that share one file with this rank, in rank order; null where the backend has not
  /// asked for them (`Entry::needs_sharers`).
  comm::Group* sharers = nullptr;
};

/// What the engine must know of a backend to treat it rightly.
struct Traits {
  /// Makes files that stay after the run unless they are removed.
  bool real_files = false;
  /// Passes by the operating system's page cache.
  bool bypasses_cache = false;
  /// Names are keys on a server: nothing of them is in a directory or in this host's page cache.
  bool is_keyed = false;
  /// Several ranks share a file, and all of them open and close it together. `kCreate` and
  /// `kTruncate` are then for the first of them alone, make no more than the name and give no
  /// handle; all open it with `kReadWrite`. A file is new to that open if it is empty.
  bool opens_together = false;
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
  /// How the run owns and removes its keys; null where names are in directories.
  [[nodiscard]] virtual KeySpace* key_space() noexcept { return nullptr; }

  virtual int open_directory(const char* path, Directory& out) = 0;
  virtual void close_directory(Directory directory) noexcept = 0;

  virtual int open(Directory at, const char* name, OpenMode mode, Handle& out) = 0;
  virtual int close(Handle file) = 0;
  /// Makes persistent; for the whole file system no file is looked at.
  virtual int sync(Handle file, schema::SyncMode mode) = 0;
  /// What an open file or directory is; ENOTSUP where nothing real exists.
  virtual int identify(Handle file, Identity& out) = 0;

  /// What a name stands for, for the engine's own use; ENOTSUP where nothing real exists.
  virtual int look_up(Directory, const char* /*name*/, Identity&) { return ENOTSUP; }

  /// The call that programs make to learn of a file; what it says is not needed.
  virtual int stat(Directory at, const char* name) = 0;
  /// The same of an open file; ENOTSUP where only its name can be asked.
  virtual int stat_open(Handle) { return ENOTSUP; }
  /// Sets a part of a file's or directory's status to what its owner may set at any time.
  virtual int set_status(Directory, const char* /*name*/, StatusPart) { return ENOTSUP; }
  /// The same of an open file; ENOTSUP where only its name can be given.
  virtual int set_open_status(Handle, StatusPart) { return ENOTSUP; }
  virtual int unlink(Directory at, const char* name) = 0;
  virtual int make_directory(Directory at, const char* name) = 0;
  virtual int remove_directory(Directory at, const char* name) = 0;
  /// Gives what has a name another one; EEXIST if that is taken.
  virtual int rename(Directory, const char* /*from*/, const char* /*to*/) { return ENOTSUP; }
  /// The same, and what has the other name is gone.
  virtual int replace(Directory, const char* /*from*/, const char* /*to*/) { return ENOTSUP; }
  /// Cuts an open file, or extends it, to a size.
  virtual int truncate(Handle, std::uint64_t /*bytes*/) { return ENOTSUP; }
  /// Moves the position of an open file, which requests do not use.
  virtual int seek(Handle, std::uint64_t /*offset*/) { return ENOTSUP; }
  /// Asks for so many bytes behind the end of an open file.
  virtual int read_behind(Handle, std::span<std::byte> /*data*/) { return ENOTSUP; }
  /// Copies an open file, none of which was read or written yet, to its end into another one, which
  /// is empty, without the bytes passing through the program. ENOTSUP where they have to; nothing
  /// was copied then.
  virtual int copy(Handle /*from*/, Handle /*to*/, schema::CopyWay, Copied&) { return ENOTSUP; }
  /// A second name of a file in the same directory.
  virtual int link(Directory, const char* /*name*/, const char* /*other*/) { return ENOTSUP; }
  /// A symbolic link `name` to `target`.
  virtual int symlink(Directory, const char* /*target*/, const char* /*name*/) { return ENOTSUP; }
  /// An empty file that is not opened.
  virtual int make_node(Directory, const char* /*name*/) { return ENOTSUP; }
  /// Opens a directory, reads all its names, and closes it; `count` is how many there were.
  virtual int read_directory(Directory, const char* /*name*/, std::uint64_t& /*count*/) {
    return ENOTSUP;
  }
  /// Extended attributes of an open file. EIO if one is not as long as `data`.
  virtual int set_attribute(Handle, const char* /*name*/, std::span<const std::byte> /*data*/) {
    return ENOTSUP;
  }
  virtual int get_attribute(Handle, const char* /*name*/, std::span<std::byte> /*data*/) {
    return ENOTSUP;
  }

  /// Does the requests in order and reads the clock after each one, so that the end of one is
  /// the beginning of the next. Stops after the first that failed or was short; returns how many
  /// completions it wrote, at least one.
  virtual std::size_t submit(Handle file, schema::Direction direction,
                             std::span<const Request> requests,
                             std::span<Completion> completions) = 0;

  /// One request that all sharers make together; 0 bytes take part without moving anything. A rank
  /// whose request fails has taken part.
  virtual Completion submit_together(Handle, schema::Direction, const Request&) {
    return {0, 0, ENOTSUP};
  }

  /// All sharers have made the last of several requests together. Collective.
  virtual void end_together(Handle) {}

  /// What comes next on an open file: at most `depth` requests at a time, with tags below it and
  /// all their data within `memory`, until this is called again. An errno.
  virtual int arrange(Handle, std::uint32_t /*depth*/, std::span<std::byte> /*memory*/) {
    return 0;
  }
  /// The places that an open file shows: until it shows others, all requests are among them. Only
  /// where `Entry::shows_places` says so.
  [[nodiscard]] virtual bool shows(Handle, const pattern::NestCursor&) const { return false; }
  /// Makes an open file show the places of regular access that ascends. Collective; an errno.
  virtual int show(Handle, const pattern::NestCursor&) { return ENOTSUP; }
  /// Starts a request, which `reap` will name by its tag; its data must stay. An errno.
  virtual int begin(Handle, schema::Direction, const Request&, std::uint32_t /*tag*/) {
    return ENOTSUP;
  }
  /// Writes how begun requests ended; waits until there is one, or for the clock to show
  /// `until_ns`. Their `end_ns` is when they were seen to be done. Returns how many; before
  /// `until_ns` 0 only if `poll` must be called.
  virtual std::size_t reap(std::span<Done>, std::uint64_t /*until_ns*/) { return 0; }

  /// The paths of all files that hold the content of the one with this path.
  [[nodiscard]] virtual std::vector<std::string> parts(const std::string& path) const {
    return {path};
  }
  /// What the library says is in force for an open file: hints that it was given or chose.
  [[nodiscard]] virtual std::vector<schema::Fact> facts(Handle) const { return {}; }
  /// Whether `server` can say something; asks once.
  virtual bool tells_servers() { return false; }
  /// The server that holds all data of the file with this path; empty where that is not known.
  [[nodiscard]] virtual std::string server(const std::string& /*path*/) const { return ""; }
  /// Whether this storage can know the bytes: if not, a read that brought others proves nothing.
  [[nodiscard]] virtual bool knows(Handle, const Request&) const noexcept { return true; }
  /// By how much compression made less of all that this instance was given to write.
  [[nodiscard]] virtual std::uint64_t saved_bytes() const noexcept { return 0; }
  /// What a failure of this backend probably means, or nothing.
  [[nodiscard]] virtual const char* hint(int) const noexcept { return ""; }
};

}  // namespace venturi::backend

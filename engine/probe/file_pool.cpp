// The metadata operations: a pool of files that keeps its size for ever.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backend/move_all.hpp"
#include "probe/page_cache.hpp"
#include "probe/posix_storage.hpp"
#include "probe/stamp.hpp"
#include "probe/time.hpp"

namespace venturi::probe {
namespace {

constexpr mode_t kMode = S_IRUSR | S_IWUSR;

bool is_there(int root, std::uint64_t number) {
  struct stat status{};
  return ::fstatat(root, file_name(number).c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

FilePool::FilePool(Ring& ring)
    : ring_(ring), content_(ring.header().file_bytes), seen_(ring.header().file_bytes) {
  fill_random(content_, base::combine(ring.header().key_high, ring.header().key_low));
}

Stamp FilePool::stamp(std::uint64_t number) const {
  return {ring_.header().key_high, ring_.header().key_low, number, 0};
}

int FilePool::prepare(const std::atomic<bool>& stop) {
  if (const int error = make_root(ring_); error != 0) return error;
  Header& head = ring_.header();
  base::Descriptor root;
  if (const int error = open_root(ring_, root); error != 0) return error;
  if (head.prepared >= head.pool_files) return reconcile(root.get());
  while (head.prepared < head.pool_files && !stop) {
    const int error = create_newest(root.get());
    if (error != 0) return error;
    head.prepared += 1;
  }
  return 0;
}

int FilePool::reconcile(int root) {
  Header& head = ring_.header();
  const std::uint64_t end = head.oldest + head.pool_files;
  while (head.oldest < end && !is_there(root, head.oldest)) {
    const bool whole_turn = is_there(root, head.newest);
    if (whole_turn) head.newest += 1;
    if (whole_turn || head.newest - head.oldest >= head.pool_files) head.oldest += 1;
    if (!whole_turn) break;  // deleted, and nothing was created yet
  }
  return 0;
}

bool FilePool::is_due(Operation operation) const {
  const Header& head = ring_.header();
  const std::uint64_t files = head.newest - head.oldest;
  if (operation == Operation::kDelete) {
    return files >= head.pool_files && verified_ == head.oldest + 1;
  }
  return operation != Operation::kCreate || files < head.pool_files;
}

Outcome FilePool::perform(Operation operation) {
  base::Descriptor root;
  if (const int error = open_root(ring_, root); error != 0) return {.error = error};
  switch (operation) {
    case Operation::kStat:
      return stat_oldest(root.get());
    case Operation::kRead:
      return read_oldest(root.get());
    case Operation::kDelete:
      return delete_oldest(root.get());
    default:
      return {.error = create_newest(root.get())};
  }
}

Outcome FilePool::stat_oldest(int root) const {
  struct stat status{};
  const std::string name = file_name(ring_.header().oldest);
  const int result = ::fstatat(root, name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
  return {.error = result == 0 ? 0 : errno};
}

Outcome FilePool::read_oldest(int root) {
  Header& head = ring_.header();
  verified_ = 0;
  const std::uint64_t number = head.oldest;
  base::Descriptor file(
      base::open_beneath(root, file_name(number).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    const int error = errno;
    // A file that is gone was not deleted by this probe: the next one is in its place.
    if (error == ENOENT && head.newest - head.oldest > 1) head.oldest += 1;
    return {.error = error};
  }
  Outcome outcome;
  const std::uint64_t before = base::monotonic_ns();
  outcome.flags = cache_flags(file.get(), 0, head.file_bytes);
  outcome.own_ns = base::monotonic_ns() - before;
  std::size_t got = 0;
  outcome.error = read_start(file.get(), seen_.data(), seen_.size(), got);
  file = base::Descriptor();
  if (outcome.error != 0) return outcome;
  std::vector<std::byte>& expected = content_;
  put_stamp(expected, stamp(number));
  if (got == expected.size() && seen_ == expected) {
    verified_ = number + 1;
  } else {
    outcome.flags |= kCorrupt;
    const bool is_ours = got >= sizeof(Stamp) && stamp_of(seen_).is_of(stamp(number));
    if (is_ours) {
      verified_ = number + 1;
    } else {
      head.oldest += 1;  // not what was written: it stays where it is
      head.foreign += 1;
    }
  }
  return outcome;
}

Outcome FilePool::delete_oldest(int root) {
  Header& head = ring_.header();
  const int result = ::unlinkat(root, file_name(head.oldest).c_str(), 0);
  const int error = result == 0 ? 0 : errno;
  if (error == 0 || error == ENOENT) head.oldest += 1;
  verified_ = 0;
  return {.error = error};
}

int FilePool::create_newest(int root) {
  Header& head = ring_.header();
  const std::string name = file_name(head.newest);
  base::Descriptor file(
      ::openat(root, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
  if (!file) return errno == EEXIST ? adopt_newest(root) : errno;
  put_stamp(content_, stamp(head.newest));
  int error = backend::write_at(file.get(), content_, 0);
  const int handle = file.release();
  if (::close(handle) != 0 && error == 0) error = errno;
  if (error == 0) {
    head.newest += 1;
  } else {
    ::unlinkat(root, name.c_str(), 0);  // made by this very call, and useless
  }
  return error;
}

int FilePool::adopt_newest(int root) {
  Header& head = ring_.header();
  base::Descriptor file(
      base::open_beneath(root, file_name(head.newest).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file) return errno;
  std::size_t got = 0;
  if (const int error = read_start(file.get(), seen_.data(), seen_.size(), got); error != 0) {
    return error;
  }
  put_stamp(content_, stamp(head.newest));
  if (!std::equal(seen_.begin(), seen_.begin() + static_cast<std::ptrdiff_t>(got),
                  content_.begin())) {
    head.foreign += 1;
    head.newest += 1;  // somebody else's: the next name is taken
    return EEXIST;
  }
  const int error = backend::write_at(file.get(), content_, 0);
  if (error == 0) head.newest += 1;
  return error;
}

}  // namespace venturi::probe

// Sharing blocks, copying ranges, sending: what a file system does of it, programs try out.
#include "backend/kernel_copy.hpp"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace venturi::backend {
namespace {

// Whole pages; as much as one call moves at most.
constexpr std::size_t kMostBytes = 0x7ffff000;

/// Errors that say that this way is none between these files, and that nothing happened.
bool is_no_way(int error) {
  return error == EOPNOTSUPP || error == EXDEV || error == EINVAL || error == ENOTTY ||
         error == ENOSYS || error == EBADF || error == EPERM || error == ETXTBSY;
}

int clone(int from, int to, Copied& out) {
  if (::ioctl(to, FICLONE, from) != 0) return errno;
  struct stat status{};
  if (::fstat(from, &status) != 0) return errno;
  out = {static_cast<std::uint64_t>(status.st_size), true};
  return 0;
}

}  // namespace

int copy_in_kernel(int from, int to, schema::CopyWay way, Copied& out) {
  if (way == schema::CopyWay::kClone) {
    const int error = clone(from, to, out);
    if (error == 0 || !is_no_way(error)) return error;
  }
  while (true) {
    const ssize_t moved = way == schema::CopyWay::kSend
                              ? ::sendfile(to, from, nullptr, kMostBytes)
                              : ::copy_file_range(from, nullptr, to, nullptr, kMostBytes, 0);
    if (moved == 0) return 0;
    if (moved > 0) {
      out.bytes += static_cast<std::uint64_t>(moved);
    } else if (errno != EINTR) {
      return out.bytes == 0 && is_no_way(errno) ? ENOTSUP : errno;
    }
  }
}

}  // namespace venturi::backend

// Making and finding the probe's own directory.
#include "probe/root.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>

#include "backend/move_all.hpp"

namespace venturi::probe {
namespace {

/// Whether the marker has this probe's key.
bool has_marker(const Ring& ring, int root) {
  const base::Descriptor marker(
      base::open_beneath(root, kMarkerName, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!marker) return false;
  std::array<char, 64> text{};
  std::size_t got = 0;
  return read_start(marker.get(), text.data(), text.size(), got) == 0 &&
         std::string(text.data(), got) == ring.key_text() + "\n";
}

int write_marker(const Ring& ring, int root) {
  const base::Descriptor marker(::openat(
      root, kMarkerName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!marker) return errno;
  const std::string text = ring.key_text() + "\n";
  return backend::write_at(marker.get(), std::as_bytes(std::span(text)), 0);
}

}  // namespace

int open_target(const Ring& ring, base::Descriptor& out) {
  out = base::Descriptor(::open(ring.directory().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return out ? 0 : errno;
}

std::string file_name(std::uint64_t number) { return fmt::format("f{:012}", number); }

int open_root(const Ring& ring, base::Descriptor& out) {
  base::Descriptor target;
  if (const int error = open_target(ring, target); error != 0) return error;
  out = base::Descriptor(base::open_beneath(target.get(), ring.root_name().c_str(),
                                            O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return out ? 0 : errno;
}

int make_root(Ring& ring) {
  base::Descriptor target;
  if (const int error = open_target(ring, target); error != 0) return error;
  base::Descriptor root;
  int error = open_root(ring, root);
  if (error == ENOENT) {
    if (::mkdirat(target.get(), ring.root_name().c_str(), S_IRWXU) != 0) return errno;
    error = open_root(ring, root);
  }
  if (error != 0) return error;
  StorageIdentity& made = ring.header().root;
  if (made.inode != 0) return is_own_root(ring, root.get()) ? 0 : EEXIST;
  if (!has_marker(ring, root.get())) {
    error = write_marker(ring, root.get());
    if (error != 0) return error;
  }
  base::Identity identity;
  if (error = base::identify(root.get(), "", identity); error != 0) return error;
  base::set_mark(root.get(), "", base::combine(ring.header().key_high, 1), identity);
  made = {identity.device, identity.inode, identity.birth_ns, identity.mark};
  return 0;
}

bool is_own_root(const Ring& ring, int root) {
  const StorageIdentity& made = ring.header().root;
  base::Identity now;
  if (base::identify(root, "", now) != 0 || !now.directory) return false;
  // The device number of a mount may change when the host starts again; key and inode do not.
  const base::Identity known{
      .device = now.device, .inode = made.inode, .birth_ns = made.birth_ns, .mark = made.mark};
  return (made.inode == 0 || known.is_same(now)) && has_marker(ring, root);
}

int read_start(int file, void* data, std::size_t bytes, std::size_t& got) {
  got = 0;
  while (got < bytes) {
    const ssize_t read =
        ::pread(file, static_cast<char*>(data) + got, bytes - got, static_cast<off_t>(got));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return errno;
    if (read == 0) break;
    got += static_cast<std::size_t>(read);
  }
  return 0;
}

}  // namespace venturi::probe

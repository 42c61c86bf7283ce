// Each file says by its stamp whose it is; the directory by its key and its marker.
#include "probe/removal.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "probe/root.hpp"
#include "probe/stamp.hpp"

namespace venturi::probe {
namespace {

constexpr std::size_t kMostNames = 100;

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

/// The number of a file of the pool; one that cannot be: it has another name.
std::uint64_t number_of(const std::string& name) {
  std::uint64_t number = 0;
  const char* end = name.data() + name.size();
  const bool is_number = name.size() == file_name(0).size() && name.front() == 'f' &&
                         std::from_chars(name.data() + 1, end, number).ptr == end;
  return is_number ? number : ~std::uint64_t{0};
}

bool is_stamped(const Ring& ring, int file, std::uint64_t place, std::size_t most_bytes) {
  const Header& head = ring.header();
  const Stamp own{head.key_high, head.key_low, place, 0};
  std::array<std::byte, sizeof(Stamp)> seen{};
  std::size_t got = 0;
  struct stat status{};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) > most_bytes) {
    return false;
  }
  if (read_start(file, seen.data(), seen.size(), got) != 0) return false;
  if (got == seen.size()) return stamp_of(seen).is_of(own);
  // A worker was killed while it made this one: the beginning of its stamp, or nothing.
  std::array<std::byte, sizeof(Stamp)> expected{};
  put_stamp(expected, own);
  return place == head.newest && got == static_cast<std::size_t>(status.st_size) &&
         std::memcmp(seen.data(), expected.data(), got) == 0;
}

bool is_own_data(const Ring& ring, int file) {
  const StorageIdentity& made = ring.header().data;
  base::Identity now;
  if (base::identify(file, "", now) != 0 || !now.regular) return false;
  if (is_stamped(ring, file, 0, ring.header().data_bytes)) return true;
  const base::Identity known{
      .device = made.device, .inode = made.inode, .birth_ns = made.birth_ns, .mark = made.mark};
  return made.inode != 0 && known.is_surely_same(now);
}

bool is_own(const Ring& ring, int root, const std::string& name) {
  const base::Descriptor file(
      base::open_beneath(root, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return false;
  if (name == kDataName && ring.header().kind == Kind::kData) {
    return is_own_data(ring, file.get());
  }
  const std::uint64_t number = number_of(name);
  return number != ~std::uint64_t{0} &&
         is_stamped(ring, file.get(), number, ring.header().file_bytes);
}

std::vector<std::string> names_in(int root) {
  std::vector<std::string> names;
  const int copy = ::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return names;
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(copy));
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name(entry->d_name);
    if (name != "." && name != ".." && name != kMarkerName) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Removes the marker and the directory; what cannot be is said.
void remove_root(Ring& ring, int root, Removal& done) {
  base::Descriptor target;
  if (const int error = open_target(ring, target); error != 0) {
    done.why = strerror(error);
    return;
  }
  if (::unlinkat(root, kMarkerName, 0) != 0 ||
      ::unlinkat(target.get(), ring.root_name().c_str(), AT_REMOVEDIR) != 0) {
    done.why = strerror(errno);
    return;
  }
  ring.header().root = {};
  ring.header().data = {};
  ring.header().oldest = ring.header().newest = ring.header().prepared = 0;
  ring.header().state = State::kNew;
}

}  // namespace

Removal remove_made(Ring& ring) {
  Removal done;
  base::Descriptor root;
  const int error = open_root(ring, root);
  if (error == ENOENT) return done;
  if (error != 0) {
    done.why = strerror(error);
    return done;
  }
  if (!is_own_root(ring, root.get())) {
    done.why = "the directory is not the one that this probe made";
    return done;
  }
  for (const std::string& name : names_in(root.get())) {
    const bool own = is_own(ring, root.get(), name);
    if (own && ::unlinkat(root.get(), name.c_str(), 0) == 0) {
      done.removed += 1;
      continue;
    }
    if (own) done.why = strerror(errno);
    if (done.left.size() < kMostNames) done.left.push_back(name);
    done.left_count += 1;
  }
  if (done.left_count == 0) remove_root(ring, root.get(), done);
  return done;
}

}  // namespace venturi::probe

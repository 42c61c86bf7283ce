// GlusterFS says where a file is in an attribute, and what is between in a directory of the mount.
#include "backend/server.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "base/beneath.hpp"
#include "base/descriptor.hpp"

namespace venturi::backend {
namespace {

constexpr const char* kPlaceAttribute = "glusterfs.pathinfo";
constexpr std::string_view kBrick = "<POSIX(";
/// The translators of a mount; each is a directory with a file `type`.
constexpr const char* kGraph = ".meta/graphs/active";
constexpr std::string_view kPieces = "features/shard";

/// The root of the mount that a directory is in.
base::Descriptor mount_of(int directory) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  base::Descriptor at(::openat(directory, ".", kFlags));
  base::Identity here;
  while (at && base::identify(at.get(), "", here) == 0) {
    base::Descriptor above(::openat(at.get(), "..", kFlags));
    base::Identity there;
    if (!above || base::identify(above.get(), "", there) != 0) break;
    if (there.device != here.device || there.inode == here.inode) break;
    at = std::move(above);
  }
  return at;
}

/// Whether a translator of the mount cuts files into pieces, or nobody can tell.
bool may_cut(int directory) {
  const base::Descriptor root = mount_of(directory);
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  const int graph = root ? ::openat(root.get(), kGraph, flags) : -1;
  const std::unique_ptr<DIR, int (*)(DIR*)> names(graph < 0 ? nullptr : ::fdopendir(graph),
                                                  &::closedir);
  if (!names) return true;
  while (const dirent* entry = ::readdir(names.get())) {
    const std::string type = fmt::format("{}/type", entry->d_name);
    const base::Descriptor file(::openat(graph, type.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 64> text{};
    const ssize_t bytes = file ? ::read(file.get(), text.data(), text.size()) : 0;
    if (bytes > 0 &&
        std::string_view(text.data(), static_cast<std::size_t>(bytes)).starts_with(kPieces)) {
      return true;
    }
  }
  return false;
}

/// The bricks in `(<DISTRIBUTE:x> <POSIX(/folder):host:/folder/path>)`.
std::vector<std::string> bricks_in(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(kBrick); at != text.npos; at = text.find(kBrick, at)) {
    at += kBrick.size();
    const std::size_t folder_end = text.find("):", at);
    if (folder_end == text.npos) break;
    const std::size_t host = folder_end + 2;
    const std::size_t host_end = text.find(':', host);
    if (host_end == text.npos) break;
    found.push_back(
        fmt::format("{}:{}", text.substr(host, host_end - host), text.substr(at, folder_end - at)));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

bool tells_servers(int directory) {
  return ::fgetxattr(directory, kPlaceAttribute, nullptr, 0) > 0 && !may_cut(directory);
}

std::string server_of(int directory, const char* path) {
  const base::Descriptor place(base::open_beneath(directory, path, O_PATH | O_CLOEXEC));
  if (!place) return "";
  std::array<char, 16'384> text{};
  // The descriptor of a place alone has no attributes, but its name has.
  const std::string name = fmt::format("/proc/self/fd/{}", place.get());
  const ssize_t bytes = ::getxattr(name.c_str(), kPlaceAttribute, text.data(), text.size());
  if (bytes <= 0) return "";
  return fmt::format("{}",
                     fmt::join(bricks_in({text.data(), static_cast<std::size_t>(bytes)}), " and "));
}

}  // namespace venturi::backend

// statx names the mount, the kernel's mount table describes it, statfs has the last word.
#include "execute/target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.hpp"

namespace venturi::execute {
namespace {

/// Since Linux 5.8; older headers and kernels do without.
constexpr unsigned kMountIdMask = 0x1000U;

/// The mount table writes a space as \040, and so on.
std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size();
    out += escaped ? static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)) : text[i];
    i += escaped ? 3 : 0;
  }
  return out;
}

/// The mount with this id; with id 0, the last one of this device.
std::optional<Mount> find_mount(std::uint64_t id, const std::string& device) {
  std::ifstream table("/proc/self/mountinfo");
  std::optional<Mount> found;
  for (std::string line; std::getline(table, line);) {
    auto mount = parse_mount(line);
    if (!mount || (id != 0 ? mount->id != id : mount->device != device)) continue;
    found = std::move(mount);
    if (id != 0) break;
  }
  return found;
}

std::string describe(const schema::TargetFacts& facts) {
  return fmt::format("{} from {} on {} (device {})", facts.type, facts.source, facts.mount,
                     facts.device);
}

}  // namespace

std::optional<Mount> parse_mount(const std::string& line) {
  std::istringstream words(line);
  Mount mount;
  std::string parent;
  std::string root;
  std::string word;
  if (!(words >> mount.id >> parent >> mount.device >> root >> mount.point)) return std::nullopt;
  while (words >> word && word != "-") {
  }
  if (!(words >> mount.type >> mount.source)) return std::nullopt;
  mount.point = unescape(mount.point);
  mount.source = unescape(mount.source);
  return mount;
}

Target::Target(std::string directory, const std::string& expected_type)
    : directory_(std::move(directory)), first_(see()), now_(first_) {
  if (first_.error != 0) throw base::target_error(directory_, std::strerror(first_.error));
  if (expected_type.empty() || first_.facts.type == expected_type) return;
  throw base::target_error(directory_,
                           fmt::format("{} is on {}, but the machine's 'expect_fstype' is {}",
                                       directory_, describe(first_.facts), expected_type),
                           "mount the file system that is meant, or choose another directory");
}

Target::State Target::see() const {
  State state;
  struct statx status{};
  struct statfs space{};
  if (::statx(AT_FDCWD, directory_.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | kMountIdMask,
              &status) != 0 ||
      ::statfs(directory_.c_str(), &space) != 0) {
    state.error = errno;
    return state;
  }
  state.error = base::identify(AT_FDCWD, directory_.c_str(), state.identity);
  state.facts.device = fmt::format("{}:{}", status.stx_dev_major, status.stx_dev_minor);
  state.facts.magic = static_cast<std::int64_t>(static_cast<std::uint32_t>(space.f_type));
  state.facts.type = "unknown";
  const bool has_id = (status.stx_mask & kMountIdMask) != 0;
  const auto mount = find_mount(has_id ? status.stx_mnt_id : 0, state.facts.device);
  if (!mount) return state;
  state.facts.type = mount->type;
  state.facts.source = mount->source;
  state.facts.mount = mount->point;
  return state;
}

void Target::look() { now_ = see(); }

std::string Target::change() const {
  const schema::TargetFacts& old = first_.facts;
  const schema::TargetFacts& now = now_.facts;
  if (now_.error != 0) {
    return fmt::format("it was {}, now it is not there: {}", describe(old),
                       std::strerror(now_.error));
  }
  if (now.device != old.device || now.magic != old.magic || now.type != old.type ||
      now.source != old.source) {
    return fmt::format("it was {}, now it is {}", describe(old), describe(now));
  }
  return now_.identity.is_same(first_.identity) ? "" : "its name now stands for another directory";
}

}  // namespace venturi::execute

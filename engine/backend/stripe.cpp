// Lustre sets the stripes of a file that was just made; BeeGFS makes it with them.
#include "backend/stripe.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "backend/stripe_abi.hpp"
#include "base/beneath.hpp"
#include "base/error.hpp"

namespace venturi::backend {
namespace {

std::vector<schema::Fact> facts_of(std::uint64_t count, std::uint64_t bytes) {
  return {{"stripe_count", std::to_string(count)}, {"stripe_size", std::to_string(bytes)}};
}

class LustreStriping final : public Striping {
 public:
  explicit LustreStriping(const schema::Stripe& stripe) {
    layout_.stripe_bytes = static_cast<std::uint32_t>(stripe.bytes);
    layout_.stripe_count =
        stripe.count < 0 ? lustre::kAllTargets : static_cast<std::uint16_t>(stripe.count);
  }

  int make(int directory, const char* path, int flags, mode_t mode) const override {
    const int made =
        base::open_beneath(directory, path, flags | O_CREAT | O_EXCL | lustre::kDelayFlags, mode);
    if (made < 0) return -1;
    lustre::Layout layout = layout_;
    if (::ioctl(made, lustre::kSetStripe, &layout) == 0) return made;
    const int error = errno;
    ::close(made);
    const base::Place place(directory, path);
    if (place.error() == 0) ::unlinkat(place.directory(), place.name(), 0);
    errno = error;
    return -1;
  }

  std::vector<schema::Fact> granted(int descriptor) const override {
    // Behind the head come the objects; a file may have thousands.
    std::array<std::byte, 65'536> held{};
    const ssize_t bytes =
        ::fgetxattr(descriptor, lustre::kLayoutAttribute, held.data(), held.size());
    lustre::Layout layout;
    if (bytes < static_cast<ssize_t>(sizeof layout)) return {};
    std::memcpy(&layout, held.data(), sizeof layout);
    // Layouts of several components have another magic and no one answer.
    if (layout.magic != lustre::kLayoutMagicV1 && layout.magic != lustre::kLayoutMagicV3) return {};
    return facts_of(layout.stripe_count, layout.stripe_bytes);
  }

  const char* hint() const noexcept override {
    return "Lustre refuses these stripes: their size must be a multiple of 64 KiB, and the file "
           "system must have a target to put them on";
  }

 private:
  lustre::Layout layout_;
};

class BeegfsStriping final : public Striping {
 public:
  explicit BeegfsStriping(const schema::Stripe& stripe)
      : targets_(stripe.count < 0 ? kMostTargets : static_cast<std::uint32_t>(stripe.count)),
        chunk_bytes_(static_cast<std::uint32_t>(stripe.bytes)) {}

  int make(int directory, const char* path, int flags, mode_t mode) const override {
    const base::Place place(directory, path);
    if (place.error() != 0) {
      errno = place.error();
      return -1;
    }
    // A directory that was opened as a place alone takes no ioctl.
    const base::Descriptor parent(
        ::openat(place.directory(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent) return -1;
    beegfs::MakeFile wanted{
        .name = place.name(), .mode = mode, .targets = targets_, .chunk_bytes = chunk_bytes_};
    if (::ioctl(parent.get(), beegfs::kMakeFile, &wanted) != 0) return -1;
    return base::open_beneath(parent.get(), place.name(), flags);
  }

  std::vector<schema::Fact> granted(int descriptor) const override {
    beegfs::StripeInfo info;
    if (::ioctl(descriptor, beegfs::kGetStripeInfo, &info) != 0) return {};
    return facts_of(info.targets, info.chunk_bytes);
  }

  const char* hint() const noexcept override {
    return "BeeGFS refuses these stripes: their size must be a power of two of 64 KiB or more, and "
           "its administrator may keep users from choosing (sysAllowUserSetPattern)";
  }

 private:
  /// More than there are: the file gets all.
  static constexpr std::uint32_t kMostTargets = 65'535;

  std::uint32_t targets_;
  std::uint32_t chunk_bytes_;
};

/// The name of a file system by its magic number.
std::string name_of(std::uint32_t magic) {
  static constexpr std::pair<std::uint32_t, const char*> kNames[] = {
      {0x47504653U, "GPFS (Storage Scale)"},
      {0x00C36400U, "CephFS"},
      {0x6969U, "NFS"},
      {0x65735546U, "a FUSE file system"},
      {0xEF53U, "ext4"},
      {0x58465342U, "XFS"},
      {0x9123683EU, "Btrfs"},
      {0x2FC12FC1U, "ZFS"},
      {0x01021994U, "tmpfs"},
      {0x794C7630U, "overlayfs"}};
  for (const auto& [number, name] : kNames) {
    if (number == magic) return name;
  }
  return fmt::format("a file system with the magic number {:#x}", magic);
}

}  // namespace

std::unique_ptr<Striping> make_striping(int descriptor, const std::string& directory,
                                        const schema::Stripe& stripe) {
  struct statfs found{};
  if (::fstatfs(descriptor, &found) != 0) {
    throw base::target_error(directory, std::strerror(errno));
  }
  const auto magic = static_cast<std::uint32_t>(found.f_type);
  if (magic == lustre::kMagic) return std::make_unique<LustreStriping>(stripe);
  if (magic != beegfs::kMagic) {
    throw base::target_error(
        directory,
        fmt::format("'stripe' is not possible on {}, where users do not choose how a file is "
                    "striped",
                    name_of(magic)),
        "it is on Lustre and BeeGFS; leave out 'stripe' of the file, or choose a directory there");
  }
  const auto bytes = static_cast<std::uint64_t>(stripe.bytes);
  if (bytes != 0 && (!std::has_single_bit(bytes) || bytes < beegfs::kLeastChunkBytes)) {
    throw base::target_error(
        directory, fmt::format("stripes on BeeGFS have a power of two of bytes, 64 KiB or more, "
                               "and not {}",
                               bytes));
  }
  return std::make_unique<BeegfsStriping>(stripe);
}

}  // namespace venturi::backend

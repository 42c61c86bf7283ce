// What Lustre's and BeeGFS's clients take from user space, as bytes: their kernel modules' ABI.
#pragma once

#include <fcntl.h>
#include <linux/ioctl.h>

#include <cstdint>

namespace venturi::backend::lustre {

/// Of statfs.
inline constexpr std::uint32_t kMagic = 0x0BD00BD0U;
/// A file that is made with both of these has no objects until its stripes are set; neither means
/// anything else for a file.
inline constexpr int kDelayFlags = O_NOCTTY | O_ASYNC;
/// The number is encoded for a `long`, whatever the argument points to.
inline constexpr unsigned long kSetStripe = _IOW('f', 154, long);
/// The extended attribute that holds a file's layout.
inline constexpr const char* kLayoutAttribute = "lustre.lov";

inline constexpr std::uint32_t kLayoutMagicV1 = 0x0BD10BD0U;
/// Has the name of a pool behind it.
inline constexpr std::uint32_t kLayoutMagicV3 = 0x0BD30BD0U;
inline constexpr std::uint32_t kRaid0 = 1;
inline constexpr std::uint16_t kAllTargets = 0xFFFFU;
inline constexpr std::uint16_t kAnyTarget = 0xFFFFU;

/// The head of a layout of one component.
struct [[gnu::packed]] Layout {
  std::uint32_t magic = kLayoutMagicV1;
  std::uint32_t pattern = kRaid0;
  std::uint64_t object_id = 0;
  std::uint64_t object_group = 0;
  std::uint32_t stripe_bytes = 0;
  /// 0: the directory's.
  std::uint16_t stripe_count = 0;
  std::uint16_t first_target = kAnyTarget;
};
static_assert(sizeof(Layout) == 32);

}  // namespace venturi::backend::lustre

namespace venturi::backend::beegfs {

/// Of statfs.
inline constexpr std::uint32_t kMagic = 0x19830326U;
inline constexpr std::uint32_t kLeastChunkBytes = 65'536;

/// Of an ioctl on the directory: makes a file there.
struct MakeFile {
  const char* name = nullptr;
  std::uint32_t mode = 0;
  /// 0: the directory's.
  std::uint32_t targets = 0;
  /// A power of two; 0: the directory's.
  std::uint32_t chunk_bytes = 0;
};
/// Of an ioctl on a file: what it has.
struct StripeInfo {
  std::uint32_t pattern = 0;
  std::uint32_t chunk_bytes = 0;
  std::uint16_t targets = 0;
};
inline constexpr unsigned long kGetStripeInfo = _IOR('f', 25, StripeInfo);
inline constexpr unsigned long kMakeFile = _IOW('f', 27, MakeFile);
static_assert(sizeof(void*) != 8 || sizeof(MakeFile) == 24);
static_assert(sizeof(StripeInfo) == 12);

}  // namespace venturi::backend::beegfs

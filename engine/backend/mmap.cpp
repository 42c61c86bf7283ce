// Mapped files: a request is a copy between memory and the pages of the file.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "backend/bus_guard.hpp"
#include "backend/descriptor_names.hpp"
#include "backend/table.hpp"
#include "base/room.hpp"

namespace venturi::backend {
namespace {

constexpr WordValue kAdvices[] = {{"normal", MADV_NORMAL},
                                  {"sequential", MADV_SEQUENTIAL},
                                  {"random", MADV_RANDOM},
                                  {"willneed", MADV_WILLNEED},
                                  {"dontneed", MADV_DONTNEED}};

/// Addresses are cheap: this much is mapped at least, more than the file holds.
constexpr std::uint64_t kLeastMappedBytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t kLeastGrowthBytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMostGrowthBytes = std::uint64_t{1} << 30U;

/// One open file and where it is mapped.
struct Mapping {
  std::byte* begin = nullptr;
  /// From the beginning of the file on.
  std::uint64_t mapped_bytes = 0;
  /// The file is at least so long.
  std::uint64_t file_bytes = 0;
  /// What is its content: the rest was added for later and goes when the file is closed.
  std::uint64_t content_bytes = 0;
  bool writable = false;
  /// Nobody else makes the file longer, so it may grow ahead of the requests.
  bool alone = false;
};

/// A file of one rank grows by doubling and is cut to its content when it is closed. One that has
/// sharers would lose what they wrote if it were cut, so it grows only to the end of a request; and
/// under a lock, because a kernel that makes a file longer clears the rest of its last page, maybe
/// after others have seen the new length and written there. The option `size` avoids both.
class Mmap final : public DescriptorNames {
 public:
  Mmap(const Environment& environment, int advice, std::uint64_t size_bytes)
      : DescriptorNames(environment, {}),
        advice_(advice),
        size_bytes_(size_bytes),
        own_(environment.file->sharing == schema::Sharing::kRank) {
    install_bus_guard();
  }

  int close(Handle file) override {
    Mapping& mapping = at(file);
    int error = 0;
    if (mapping.begin != nullptr && ::munmap(mapping.begin, mapping.mapped_bytes) != 0) {
      error = errno;
    }
    const bool longer = mapping.file_bytes > mapping.content_bytes;
    if (mapping.alone && longer &&
        ::ftruncate(static_cast<int>(file), static_cast<off_t>(mapping.content_bytes)) != 0) {
      error = errno;
    }
    mapping = {};
    const int result = DescriptorNames::close(file);
    return error != 0 ? error : result;
  }

  int sync(Handle file, schema::SyncMode mode) override {
    // What was copied is in the page cache already: `flush` has nothing to do.
    if (mode == schema::SyncMode::kNone || mode == schema::SyncMode::kFlush) return 0;
    if (mode == schema::SyncMode::kFileSystem) return DescriptorNames::sync(file, mode);
    const Mapping& mapping = at(file);
    const std::uint64_t bytes = std::min(mapping.mapped_bytes, mapping.file_bytes);
    if (bytes > 0 && ::msync(mapping.begin, bytes, MS_SYNC) != 0) return errno;
    return mode == schema::SyncMode::kFsync ? DescriptorNames::sync(file, mode) : 0;
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    Mapping& mapping = at(file);
    const int descriptor = static_cast<int>(file);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i] = direction == schema::Direction::kWrite
                           ? write(descriptor, mapping, requests[i])
                           : read(descriptor, mapping, requests[i]);
      completions[i].end_ns = clock().now_ns();
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }

  [[nodiscard]] const char* hint(int error) const noexcept override {
    if (error == EIO) {
      return "a page of the mapped file could not be had: storage failed, or somebody cut the file";
    }
    if (error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP) {
      return "a mapped file with sharers grows under a lock, which this file system does not have; "
             "give it its whole length with the option size";
    }
    return DescriptorNames::hint(error);
  }

 protected:
  int opened(int descriptor, OpenMode mode) override {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= mappings_.size()) mappings_.resize(index + 1);
    Mapping& mapping = mappings_[index];
    const bool makes = mode == OpenMode::kCreate || mode == OpenMode::kTruncate;
    mapping = {.writable = mode != OpenMode::kRead, .alone = own_ && makes};
    if (makes && size_bytes_ > 0 && ::ftruncate(descriptor, static_cast<off_t>(size_bytes_)) != 0) {
      return errno;
    }
    const int error = refresh(descriptor, mapping);
    mapping.content_bytes = mapping.file_bytes;
    return error;
  }

 private:
  Mapping& at(Handle file) { return mappings_[static_cast<std::size_t>(file)]; }

  static int refresh(int descriptor, Mapping& mapping) {
    struct stat status{};
    if (::fstat(descriptor, &status) != 0) return errno;
    mapping.file_bytes = static_cast<std::uint64_t>(status.st_size);
    return 0;
  }

  /// Makes addresses for the first `end` bytes of the file.
  int map(int descriptor, Mapping& mapping, std::uint64_t end) const {
    if (end <= mapping.mapped_bytes) return 0;
    std::uint64_t bytes = std::max({end, 2 * mapping.mapped_bytes, kLeastMappedBytes});
    bytes = (bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
    const int access = mapping.writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void* begin = mapping.begin == nullptr
                      ? ::mmap(nullptr, bytes, access, MAP_SHARED, descriptor, 0)
                      : ::mremap(mapping.begin, mapping.mapped_bytes, bytes, MREMAP_MAYMOVE);
    if (begin == MAP_FAILED) return errno;
    mapping.begin = static_cast<std::byte*>(begin);
    mapping.mapped_bytes = bytes;
    const bool tells = advice_ != MADV_NORMAL && advice_ != MADV_DONTNEED;
    return tells && ::madvise(begin, bytes, advice_) != 0 ? errno : 0;
  }

  /// Makes the file reach to `end`.
  static int grow(int descriptor, Mapping& mapping, std::uint64_t end) {
    if (end <= mapping.file_bytes) return 0;
    if (mapping.alone) {
      const std::uint64_t growth =
          std::clamp(mapping.file_bytes, kLeastGrowthBytes, kMostGrowthBytes);
      const std::uint64_t wanted = std::max(end, mapping.file_bytes + growth);
      if (::ftruncate(descriptor, static_cast<off_t>(wanted)) != 0) return errno;
      mapping.file_bytes = wanted;
      return 0;
    }
    if (::flock(descriptor, LOCK_EX) != 0) return errno;
    int error = refresh(descriptor, mapping);
    if (error == 0 && end > mapping.file_bytes) {
      error = ::ftruncate(descriptor, static_cast<off_t>(end)) == 0 ? 0 : errno;
      if (error == 0) mapping.file_bytes = end;
    }
    return ::flock(descriptor, LOCK_UN) == 0 ? error : errno;
  }

  Completion write(int descriptor, Mapping& mapping, const Request& request) const {
    const std::uint64_t end = request.offset + request.bytes;
    if (request.bytes == 0) return {};
    int error = grow(descriptor, mapping, end);
    if (error == 0) error = map(descriptor, mapping, end);
    if (error != 0) return {0, 0, error};
    if (!copy_guarded(mapping.begin + request.offset, request.data, request.bytes)) {
      return {0, 0, base::is_full(descriptor) ? ENOSPC : EIO};  // the likely cause
    }
    mapping.content_bytes = std::max(mapping.content_bytes, end);
    return {0, request.bytes, forget(mapping, request.offset, request.bytes)};
  }

  Completion read(int descriptor, Mapping& mapping, const Request& request) const {
    const std::uint64_t end = request.offset + request.bytes;
    if (end > mapping.file_bytes) {
      if (const int error = refresh(descriptor, mapping)) return {0, 0, error};
    }
    const std::uint64_t there = mapping.alone ? mapping.content_bytes : mapping.file_bytes;
    if (request.offset >= there) return {};
    const std::uint64_t bytes = std::min(request.bytes, there - request.offset);
    if (const int error = map(descriptor, mapping, request.offset + bytes)) return {0, 0, error};
    if (!copy_guarded(request.data, mapping.begin + request.offset, bytes)) return {0, 0, EIO};
    return {0, bytes, forget(mapping, request.offset, bytes)};
  }

  /// With `dontneed`, the pages of a request leave the mapping after it. An errno.
  [[nodiscard]] int forget(const Mapping& mapping, std::uint64_t offset,
                           std::uint64_t bytes) const {
    if (advice_ != MADV_DONTNEED) return 0;
    const std::uint64_t first = offset / page_bytes_ * page_bytes_;
    return ::madvise(mapping.begin + first, offset + bytes - first, MADV_DONTNEED) == 0 ? 0 : errno;
  }

  int advice_;
  std::uint64_t size_bytes_;
  bool own_;
  std::uint64_t page_bytes_ = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  /// By descriptor.
  std::vector<Mapping> mappings_;
};

}  // namespace

const Description& mmap_description();
const Description& mmap_description() {
  static const Description description{
      .data_path = kByMapping,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kBytes},
      .options =
          {{"advice", "word", "normal",
            "told with madvise when the file is mapped; `dontneed`: after each request, its pages "
            "leave the mapping",
            "normal|sequential|random|willneed|dontneed"},
           {"size", "bytes", "0",
            "how long a file is made when it is created; shorter, it grows as it is written",
            "0 or more bytes"}},
      .calls = {.write = "memcpy() into the mapping",
                .read = "memcpy() from the mapping",
                .both = "mmap() and stores into memory",
                .sync = "msync()"},
      .elsewhere = {.ior = "MMAP"},
  };
  return description;
}

const Entry& mmap_entry();
const Entry& mmap_entry() {
  static const Entry entry{
      mmap_description().options, mmap_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        const int advice = word_value(mmap_entry(), options, "advice", kAdvices);
        return std::make_unique<Mmap>(environment, advice,
                                      bytes_option(mmap_entry(), options, "size"));
      }};
  return entry;
}

}  // namespace venturi::backend

// Opening, closing, syncing and naming files through descriptors relative to open directories.
#include "backend/descriptor_names.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "backend/server.hpp"
#include "base/beneath.hpp"
#include "base/error.hpp"

namespace venturi::backend {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kDirectoryMode = 0755;
/// What a mode is set to: of directories, too, which must stay open to their owner.
constexpr mode_t kSetMode = 0755;
/// What times are set to: of the last access and of the last change, since 1970.
constexpr std::array<timespec, 2> kSetTimes{timespec{.tv_sec = 1'000'000'000, .tv_nsec = 0},
                                            timespec{.tv_sec = 1'000'000'000, .tv_nsec = 0}};
/// Read at once of a directory, as much as the C library does.
constexpr std::size_t kNamesBytes = 32'768;

constexpr WordValue kAdvices[] = {{"normal", POSIX_FADV_NORMAL},
                                  {"sequential", POSIX_FADV_SEQUENTIAL},
                                  {"random", POSIX_FADV_RANDOM},
                                  {"willneed", POSIX_FADV_WILLNEED},
                                  {"noreuse", POSIX_FADV_NOREUSE}};
constexpr WordValue kSyncFlags[] = {{"none", 0}, {"sync", O_SYNC}, {"dsync", O_DSYNC}};

int flags_of(OpenMode mode) {
  switch (mode) {
    case OpenMode::kCreate:
      return O_CREAT | O_EXCL | O_RDWR;
    case OpenMode::kRead:
      return O_RDONLY | O_NONBLOCK;  // files do not know the flag, pipes do
    case OpenMode::kTruncate:
    case OpenMode::kReadWrite:
      break;
  }
  return O_RDWR;
}

/// Takes the content of an open file, unless another name leads to it. An errno, 0 for success.
int empty(int descriptor) {
  Identity identity;
  if (const int error = base::identify(descriptor, "", identity)) return error;
  if (!identity.regular || identity.links != 1) return EEXIST;
  return ::ftruncate(descriptor, 0) == 0 ? 0 : errno;
}

/// chmod that follows no link. Linux has it since 6.6, as a call that older C libraries lack; they
/// take several calls instead.
int set_mode(int directory, const char* name) {
  constexpr long kFchmodat2 = 452;  // the same on all processors
  if (::syscall(kFchmodat2, directory, name, kSetMode, AT_SYMLINK_NOFOLLOW) == 0) return 0;
  if (errno != ENOSYS && errno != EPERM) return errno;
  return ::fchmodat(directory, name, kSetMode, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

/// Counts the names in an open directory but `.` and `..`. An errno, 0 for success.
int read_names(int directory, std::uint64_t& count) {
  alignas(dirent64) std::array<char, kNamesBytes> names;
  count = 0;
  while (true) {
    const long bytes = ::syscall(SYS_getdents64, directory, names.data(), names.size());
    if (bytes <= 0) return bytes == 0 ? 0 : errno;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(names.data() + at);
      const std::string_view name = entry->d_name;
      count += static_cast<std::uint64_t>(name != "." && name != "..");
      at += entry->d_reclen;
    }
  }
}

}  // namespace

std::vector<OptionInfo> open_options() {
  return {
      {"direct", "boolean", "false", "open with O_DIRECT, past the page cache", "true or false"},
      {"open_sync", "word", "none",
       "open with O_SYNC or O_DSYNC: a write returns when it is persistent", "none|sync|dsync"},
      {"preallocate", "bytes", "0",
       "allocated with fallocate when a file is made, which then has that size",
       "0 (nothing) or more bytes"},
      {"advice", "word", "normal", "told with posix_fadvise when a file is opened",
       "normal|sequential|random|willneed|noreuse"}};
}

OpenSettings open_settings(const Entry& entry, const std::vector<schema::Option>& options) {
  OpenSettings settings;
  if (boolean_option(entry, options, "direct")) settings.flags |= O_DIRECT;
  settings.flags |= word_value(entry, options, "open_sync", kSyncFlags);
  settings.preallocate_bytes = bytes_option(entry, options, "preallocate");
  settings.advice = word_value(entry, options, "advice", kAdvices);
  return settings;
}

DescriptorNames::DescriptorNames(const Environment& environment, const OpenSettings& settings)
    : clock_(environment.clock),
      root_(::open(environment.root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
      settings_(settings) {
  // Linux then writes at the end of the file, whatever the offset says.
  if (environment.file != nullptr && environment.file->append) settings_.flags |= O_APPEND;
  if (environment.file != nullptr && environment.file->stripe) {
    striping_ = make_striping(root_.get(), environment.root, *environment.file->stripe);
  }
}

bool DescriptorNames::is_direct() const noexcept { return (settings_.flags & O_DIRECT) != 0; }

Traits DescriptorNames::traits() const noexcept {
  return {.real_files = true, .bypasses_cache = is_direct()};
}

int DescriptorNames::open_directory(const char* path, Directory& out) {
  out = base::open_beneath(root_.get(), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return out < 0 ? errno : 0;
}

void DescriptorNames::close_directory(Directory directory) noexcept {
  ::close(static_cast<int>(directory));
}

int DescriptorNames::open(Directory at, const char* name, OpenMode mode, Handle& out) {
  int descriptor = -1;
  int error = open_descriptor(at, name, mode, descriptor);
  out = descriptor;
  if (error != 0) return error;
  error = settle(descriptor, mode);
  if (error == 0) error = opened(descriptor, mode);
  if (error != 0) ::close(descriptor);
  return error;
}

int DescriptorNames::open_descriptor(Directory at, const char* name, OpenMode mode, int& out) {
  const int flags = flags_of(mode) | O_CLOEXEC | settings_.flags;
  const bool makes_stripes = striping_ != nullptr && mode == OpenMode::kCreate;
  do {
    if (makes_stripes) {
      out = striping_->make(base_of(at), name, flags & ~(O_CREAT | O_EXCL), kFileMode);
    } else {
      // Only the name of somebody else's file is absolute.
      out = *name == '/' ? ::open(name, flags, kFileMode)
                         : base::open_beneath(base_of(at), name, flags, kFileMode);
    }
  } while (out < 0 && errno == EINTR);
  stripes_refused_ = makes_stripes && out < 0;
  return out < 0 ? errno : 0;
}

/// What belongs to opening; without options it is nothing, so that it costs nothing.
int DescriptorNames::settle(int descriptor, OpenMode mode) {
  if (mode == OpenMode::kTruncate) {
    if (const int error = empty(descriptor)) return error;
  }
  const bool makes = mode == OpenMode::kCreate || mode == OpenMode::kTruncate;
  if (makes && settings_.preallocate_bytes > 0 &&
      ::fallocate(descriptor, 0, 0, static_cast<off_t>(settings_.preallocate_bytes)) != 0) {
    return errno;
  }
  return settings_.advice == POSIX_FADV_NORMAL
             ? 0
             : ::posix_fadvise(descriptor, 0, 0, settings_.advice);
}

int DescriptorNames::close(Handle file) { return ::close(static_cast<int>(file)) == 0 ? 0 : errno; }

int DescriptorNames::sync(Handle file, schema::SyncMode mode) {
  const int descriptor = static_cast<int>(file);
  // There is no buffer above the kernel, so `flush` has nothing to do.
  if (mode == schema::SyncMode::kNone || mode == schema::SyncMode::kFlush) return 0;
  if (mode == schema::SyncMode::kFileSystem) return ::syncfs(root_.get()) == 0 ? 0 : errno;
  const int result =
      mode == schema::SyncMode::kFsync ? ::fsync(descriptor) : ::fdatasync(descriptor);
  return result == 0 ? 0 : errno;
}

int DescriptorNames::identify(Handle file, Identity& out) {
  return base::identify(static_cast<int>(file), "", out);
}

int DescriptorNames::look_up(Directory at, const char* name, Identity& out) {
  const base::Place place(base_of(at), name);
  return place.error() != 0 ? place.error() : base::identify(place.directory(), place.name(), out);
}

int DescriptorNames::stat(Directory at, const char* name) {
  // Not statx: it costs more, and programs rarely call it. A look does no harm, whatever stands in
  // the place of a directory on the way, so it is one call, as in programs.
  struct stat status{};
  const int result = ::fstatat(base_of(at), name, &status, AT_SYMLINK_NOFOLLOW);
  return result == 0 ? 0 : errno;
}

int DescriptorNames::stat_descriptor(Handle file) {
  struct stat status{};
  return ::fstat(static_cast<int>(file), &status) == 0 ? 0 : errno;
}

int DescriptorNames::set_status(Directory at, const char* name, StatusPart part) {
  const base::Place place(base_of(at), name);
  if (place.error() != 0) return place.error();
  if (part == StatusPart::kMode) return set_mode(place.directory(), place.name());
  const int result =
      part == StatusPart::kOwner
          ? ::fchownat(place.directory(), place.name(), owner_, group_, AT_SYMLINK_NOFOLLOW)
          : ::utimensat(place.directory(), place.name(), kSetTimes.data(), AT_SYMLINK_NOFOLLOW);
  return result == 0 ? 0 : errno;
}

int DescriptorNames::set_descriptor_status(Handle file, StatusPart part) const {
  const int descriptor = static_cast<int>(file);
  int result = 0;
  if (part == StatusPart::kMode) result = ::fchmod(descriptor, kSetMode);
  if (part == StatusPart::kOwner) result = ::fchown(descriptor, owner_, group_);
  if (part == StatusPart::kTimes) result = ::futimens(descriptor, kSetTimes.data());
  return result == 0 ? 0 : errno;
}

int DescriptorNames::seek_descriptor(Handle file, std::uint64_t offset) {
  return ::lseek(static_cast<int>(file), static_cast<off_t>(offset), SEEK_SET) < 0 ? errno : 0;
}

int DescriptorNames::read_behind_descriptor(Handle file, std::span<std::byte> data) {
  const ssize_t moved = ::pread(static_cast<int>(file), data.data(), data.size(), kFarBehind);
  if (moved < 0) return errno;
  return moved == 0 ? 0 : EFBIG;
}

int DescriptorNames::make_directory(Directory at, const char* name) {
  const base::Place place(base_of(at), name);
  if (place.error() != 0) return place.error();
  return ::mkdirat(place.directory(), place.name(), kDirectoryMode) == 0 ? 0 : errno;
}

int DescriptorNames::remove_directory(Directory at, const char* name) {
  return remove(at, name, AT_REMOVEDIR);
}

int DescriptorNames::rename(Directory at, const char* from, const char* to) {
  if (keeps_taken_names_) {
    const base::Place old(base_of(at), from);
    const base::Place other(base_of(at), to);
    if (old.error() != 0 || other.error() != 0)
      return old.error() != 0 ? old.error() : other.error();
    if (::renameat2(old.directory(), old.name(), other.directory(), other.name(),
                    RENAME_NOREPLACE) == 0) {
      return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) return errno;
    keeps_taken_names_ = false;  // this file system does not know the flag
  }
  Identity taken;
  if (look_up(at, to, taken) == 0) return EEXIST;
  return replace(at, from, to);
}

int DescriptorNames::replace(Directory at, const char* from, const char* to) {
  const base::Place old(base_of(at), from);
  const base::Place other(base_of(at), to);
  if (old.error() != 0 || other.error() != 0) return old.error() != 0 ? old.error() : other.error();
  return ::renameat(old.directory(), old.name(), other.directory(), other.name()) == 0 ? 0 : errno;
}

int DescriptorNames::link(Directory at, const char* name, const char* other) {
  return ::linkat(base_of(at), name, base_of(at), other, 0) == 0 ? 0 : errno;
}

int DescriptorNames::symlink(Directory at, const char* target, const char* name) {
  return ::symlinkat(target, base_of(at), name) == 0 ? 0 : errno;
}

int DescriptorNames::make_node(Directory at, const char* name) {
  return ::mknodat(base_of(at), name, S_IFREG | kFileMode, 0) == 0 ? 0 : errno;
}

int DescriptorNames::read_directory(Directory at, const char* name, std::uint64_t& count) {
  const base::Descriptor directory(
      base::open_beneath(base_of(at), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory ? read_names(directory.get(), count) : errno;
}

int DescriptorNames::set_attribute(Handle file, const char* name, std::span<const std::byte> data) {
  return ::fsetxattr(static_cast<int>(file), name, data.data(), data.size(), 0) == 0 ? 0 : errno;
}

int DescriptorNames::get_attribute(Handle file, const char* name, std::span<std::byte> data) {
  const ssize_t bytes = ::fgetxattr(static_cast<int>(file), name, data.data(), data.size());
  if (bytes < 0) return errno;
  return static_cast<std::size_t>(bytes) == data.size() ? 0 : EIO;
}

std::vector<schema::Fact> DescriptorNames::facts(Handle file) const {
  return striping_ == nullptr ? std::vector<schema::Fact>{}
                              : striping_->granted(static_cast<int>(file));
}

std::vector<schema::Fact> DescriptorNames::stripes_of(Directory at, const char* name) const {
  if (striping_ == nullptr) return {};
  const base::Descriptor opened(
      base::open_beneath(base_of(at), name, flags_of(OpenMode::kRead) | O_CLOEXEC));
  return opened ? striping_->granted(opened.get()) : std::vector<schema::Fact>{};
}

bool DescriptorNames::tells_servers() {
  if (!tells_servers_) tells_servers_ = backend::tells_servers(root_.get());
  return *tells_servers_;
}

std::string DescriptorNames::server(const std::string& path) const {
  return tells_servers_.value_or(false) ? server_of(root_.get(), path.c_str()) : "";
}

const char* DescriptorNames::hint(int error) const noexcept {
  if (stripes_refused_ && (error == EINVAL || error == ERANGE || error == EPERM)) {
    return striping_->hint();
  }
  if (error == ELOOP || error == ENOTDIR) {
    return "below the run's directory there is a symbolic link, and none is followed, or a file "
           "where a directory should be";
  }
  if (error == EOPNOTSUPP && settings_.preallocate_bytes > 0) {
    return "this file system cannot allocate beforehand; leave out the option preallocate";
  }
  return is_direct() && error == EINVAL
             ? "with direct=true sizes and offsets must be multiples of the storage's block "
               "(4096 is safe), and the file system must support O_DIRECT"
             : "";
}

int DescriptorNames::remove(Directory at, const char* name, int flags) {
  const base::Place place(base_of(at), name);
  if (place.error() != 0) return place.error();
  return ::unlinkat(place.directory(), place.name(), flags) == 0 ? 0 : errno;
}

int DescriptorNames::base_of(Directory at) const noexcept {
  return at == kRoot ? root_.get() : static_cast<int>(at);
}

}  // namespace venturi::backend

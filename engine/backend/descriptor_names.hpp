// Names and open files as Linux has them: what all backends share whose handles are descriptors.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/stripe.hpp"
#include "backend/table.hpp"
#include "base/descriptor.hpp"

namespace venturi::backend {

/// Linux moves at most this much in one call (0x7ffff000); asking for more is a short transfer.
inline constexpr std::uint64_t kMostBytes = 0x7ffff000U;

/// An offset that file systems know and files seldom reach: 8 TiB.
inline constexpr off_t kFarBehind = off_t{1} << 43U;

/// How files are opened, and what the kernel is told about them.
struct OpenSettings {
  /// Added to every open: O_DIRECT, O_SYNC or O_DSYNC.
  int flags = 0;
  /// Allocated when a file is made.
  std::uint64_t preallocate_bytes = 0;
  /// Of posix_fadvise; POSIX_FADV_NORMAL is not told.
  int advice = 0;
};

/// The options behind `OpenSettings`.
std::vector<OptionInfo> open_options();
/// What the options ask for; `entry` has all of `open_options`.
OpenSettings open_settings(const Entry& entry, const std::vector<schema::Option>& options);

/// Everything but the transfers; a handle is a descriptor.
class DescriptorNames : public Backend {
 public:
  /// Throws base::Error (exit 5) where the files' stripes cannot be had.
  DescriptorNames(const Environment& environment, const OpenSettings& settings);

  [[nodiscard]] Traits traits() const noexcept override;

  int open_directory(const char* path, Directory& out) override;
  void close_directory(Directory directory) noexcept override;

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override;
  int close(Handle file) override;
  int sync(Handle file, schema::SyncMode mode) override;
  int identify(Handle file, Identity& out) override;

  int look_up(Directory at, const char* name, Identity& out) override;
  int stat(Directory at, const char* name) override;
  int set_status(Directory at, const char* name, StatusPart part) override;
  int unlink(Directory at, const char* name) override { return remove(at, name, 0); }
  int make_directory(Directory at, const char* name) override;
  int remove_directory(Directory at, const char* name) override;
  int rename(Directory at, const char* from, const char* to) override;
  int replace(Directory at, const char* from, const char* to) override;
  int link(Directory at, const char* name, const char* other) override;
  int symlink(Directory at, const char* target, const char* name) override;
  int make_node(Directory at, const char* name) override;
  int read_directory(Directory at, const char* name, std::uint64_t& count) override;
  int set_attribute(Handle file, const char* name, std::span<const std::byte> data) override;
  int get_attribute(Handle file, const char* name, std::span<std::byte> data) override;

  /// The stripes that a file with some of its own was given.
  [[nodiscard]] std::vector<schema::Fact> facts(Handle file) const override;
  bool tells_servers() override;
  [[nodiscard]] std::string server(const std::string& path) const override;
  [[nodiscard]] const char* hint(int error) const noexcept override;

 protected:
  /// `stat_open` of those whose handles are descriptors.
  static int stat_descriptor(Handle file);
  /// `set_open_status` of those.
  int set_descriptor_status(Handle file, StatusPart part) const;
  /// `seek` of those.
  static int seek_descriptor(Handle file, std::uint64_t offset);
  /// `read_behind` of those.
  static int read_behind_descriptor(Handle file, std::span<std::byte> data);
  /// A file was opened; an errno closes it again. What `close` must undo is done here.
  virtual int opened(int /*descriptor*/, OpenMode) { return 0; }

  /// The same facts of a file that has no descriptor.
  [[nodiscard]] std::vector<schema::Fact> stripes_of(Directory at, const char* name) const;
  [[nodiscard]] const base::Clock& clock() const noexcept { return *clock_; }
  [[nodiscard]] bool is_direct() const noexcept;
  /// Whether files are made with stripes of their own.
  [[nodiscard]] bool has_stripes() const noexcept { return striping_ != nullptr; }
  /// The descriptor of an open directory.
  [[nodiscard]] int base_of(Directory at) const noexcept;

 private:
  int open_descriptor(Directory at, const char* name, OpenMode mode, int& out);
  int settle(int descriptor, OpenMode mode);
  int remove(Directory at, const char* name, int flags);

  base::Clock* clock_;
  base::Descriptor root_;
  OpenSettings settings_;
  /// Who owns what is made.
  uid_t owner_ = ::geteuid();
  gid_t group_ = ::getegid();
  /// Of files that shall have stripes of their own; else null.
  std::unique_ptr<Striping> striping_;
  bool stripes_refused_ = false;
  /// Nothing before it was asked.
  std::optional<bool> tells_servers_;
  /// Renaming never replaces a name, as far as the file system can promise that.
  bool keeps_taken_names_ = true;
};

}  // namespace venturi::backend

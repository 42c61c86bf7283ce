// Names and open files of libraries that work on a descriptor of one process.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/descriptor_names.hpp"
#include "backend/selection.hpp"
#include "base/beneath.hpp"

namespace venturi::backend {

/// `Open` is what the library knows of an open file. A new file is made by the library, as it is in
/// applications: what is there and emptied is written out by some file systems when it is closed.
/// Ranks that share a file open and close it together: who makes it makes no more than the name,
/// and the first open after that fills it.
template <class Open>
class LibraryNames : public DescriptorNames {
 public:
  explicit LibraryNames(const Environment& environment)
      : DescriptorNames(environment, {}),
        plan_(*environment.file),
        together_(opens_together(*environment.file)) {}

  [[nodiscard]] Traits traits() const noexcept override {
    Traits traits = DescriptorNames::traits();
    traits.opens_together = together_;
    return traits;
  }

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    const bool makes_all = mode == OpenMode::kCreate && !together_ && !has_stripes();
    int error = makes_all ? make(at, name, out) : ENOTSUP;
    if (makes_all && error != ENOTSUP) return error;
    error = DescriptorNames::open(at, name, mode, out);
    if (error == 0 && makes_only_name(mode)) DescriptorNames::close(std::exchange(out, -1));
    return error;
  }

 protected:
  /// The library's part of opening a file; it makes the content of a new one. An errno ends it.
  virtual int open_content(int descriptor, OpenMode mode, bool is_new, Open& out) = 0;
  /// Makes a file that must not be there yet (then EEXIST), with its content and a descriptor.
  /// ENOTSUP where the library leaves that to us; another errno.
  virtual int make_file(const std::string& /*path*/, Open& /*out*/, int& /*descriptor*/) {
    return ENOTSUP;
  }
  /// How much is in a file, where sharers may see it differently.
  virtual std::uint64_t agreed_bytes(std::uint64_t bytes) { return bytes; }

  [[nodiscard]] const schema::File& plan() const noexcept { return plan_; }
  /// Of all descriptors so far; most are not open any more.
  [[nodiscard]] std::vector<Open>& all() noexcept { return files_; }
  [[nodiscard]] Open& at(Handle file) { return files_[static_cast<std::size_t>(file)]; }
  [[nodiscard]] const Open& at(Handle file) const { return files_[static_cast<std::size_t>(file)]; }

 private:
  [[nodiscard]] bool makes_only_name(OpenMode mode) const noexcept {
    return together_ && makes(mode);
  }
  static bool makes(OpenMode mode) noexcept {
    return mode == OpenMode::kCreate || mode == OpenMode::kTruncate;
  }
  /// Whether the library has still to make the file whose name is there.
  bool is_new(int descriptor, OpenMode mode) {
    if (!together_ || mode == OpenMode::kRead) return makes(mode);
    Identity identity;
    return DescriptorNames::identify(descriptor, identity) == 0 &&
           agreed_bytes(identity.bytes) == 0;
  }
  int make(Directory at, const char* name, Handle& out) {
    const base::Place place(base_of(at), name);
    if (place.error() != 0) return place.error();
    Open made;
    int descriptor = -1;
    const int error = make_file(fmt::format("/proc/self/fd/{}/{}", place.directory(), place.name()),
                                made, descriptor);
    if (error != 0) return error;
    fresh_at(descriptor) = std::move(made);
    out = descriptor;
    return 0;
  }
  int opened(int descriptor, OpenMode mode) final {
    if (makes_only_name(mode)) return 0;
    return open_content(descriptor, mode, is_new(descriptor, mode), fresh_at(descriptor));
  }
  Open& fresh_at(int descriptor) {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= files_.size()) files_.resize(index + 1);
    files_[index] = {};
    return files_[index];
  }

  const schema::File& plan_;
  bool together_;
  /// By descriptor.
  std::vector<Open> files_;
};

}  // namespace venturi::backend

// Names and open files of libraries that work on a descriptor of one process.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "backend/descriptor_names.hpp"
#include "backend/selection.hpp"

namespace venturi::backend {

/// `Open` is what the library knows of an open file. Ranks that share a file open and close it
/// together: who makes it makes no more than the name, and the first open after that fills it.
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
    const int error = DescriptorNames::open(at, name, mode, out);
    if (error == 0 && makes_only_name(mode)) DescriptorNames::close(std::exchange(out, -1));
    return error;
  }

 protected:
  /// The library's part of opening a file; it makes the content of a new one. An errno ends it.
  virtual int open_content(int descriptor, OpenMode mode, bool is_new, Open& out) = 0;
  /// How much is in a file, where sharers may see it differently.
  virtual std::uint64_t agreed_bytes(std::uint64_t bytes) { return bytes; }

  [[nodiscard]] const schema::File& plan() const noexcept { return plan_; }
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
  int opened(int descriptor, OpenMode mode) final {
    if (makes_only_name(mode)) return 0;
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= files_.size()) files_.resize(index + 1);
    files_[index] = {};
    return open_content(descriptor, mode, is_new(descriptor, mode), files_[index]);
  }

  const schema::File& plan_;
  bool together_;
  /// By descriptor.
  std::vector<Open> files_;
};

}  // namespace venturi::backend

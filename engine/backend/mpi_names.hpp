// Names and open files of interfaces on MPI's files: POSIX does all but the library's own calls.
#pragma once

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/descriptor_names.hpp"
#include "backend/mpi_file.hpp"
#include "backend/selection.hpp"

namespace venturi::backend {

/// The path of a name for libraries that know no open directories; `root` ends with a slash.
inline std::string path_of(const std::string& root, Directory at, const char* name) {
  if (*name == '/') return name;
  if (at == Backend::kRoot) return root + name;
  std::array<char, PATH_MAX> directory{};
  const std::string link = "/proc/self/fd/" + std::to_string(at);
  return ::readlink(link.c_str(), directory.data(), directory.size() - 1) < 0
             ? root + name
             : std::string(directory.data()) + "/" + name;
}

/// The errno of this rank, or ECANCELED if another one failed: then none goes on. Collective.
inline int agreed_error(comm::Group& sharers, int error) {
  const std::uint64_t any = sharers.maximum(static_cast<std::uint64_t>(error));
  return error == 0 && any != 0 ? ECANCELED : error;
}

/// What a library has open, by handles that are no descriptors.
template <class Open>
class OpenTable {
 public:
  /// Smaller numbers are descriptors.
  static constexpr Handle kFirst = Handle{1} << 32U;

  Handle add(Open open) {
    auto free = std::find(places_.begin(), places_.end(), std::nullopt);
    if (free == places_.end()) free = places_.emplace(free);
    const Handle handle = kFirst + (free - places_.begin());
    *free = std::move(open);
    return handle;
  }
  Open take(Handle handle) {
    std::optional<Open>& held = place(handle);
    Open taken = std::move(held).value();
    held.reset();
    return taken;
  }
  [[nodiscard]] Open& operator[](Handle handle) { return *place(handle); }
  [[nodiscard]] const Open& operator[](Handle handle) const {
    return *places_[static_cast<std::size_t>(handle - kFirst)];
  }
  /// The first for which `wanted` holds, or null.
  template <class Wanted>
  [[nodiscard]] Open* find(const Wanted& wanted) {
    const auto found =
        std::find_if(places_.begin(), places_.end(),
                     [&](const std::optional<Open>& each) { return each && wanted(*each); });
    return found == places_.end() ? nullptr : &**found;
  }

 private:
  std::optional<Open>& place(Handle handle) {
    return places_[static_cast<std::size_t>(handle - kFirst)];
  }

  std::vector<std::optional<Open>> places_;
};

/// By which its identity is read: no library tells the descriptor below.
struct OpenName {
  Directory at = 0;
  std::string name;
};

/// `Open` is an `OpenName` and what the library needs beside it.
template <class Open>
class MpiNames : public DescriptorNames {
 public:
  MpiNames(const Environment& environment, const std::string& interface)
      : DescriptorNames(environment, {}),
        root_(environment.root + "/"),
        sharers_(*environment.sharers),
        together_(opens_together(*environment.file)),
        communicator_(communicator_of(sharers_, interface)),
        hints_(*environment.file) {}

  [[nodiscard]] Traits traits() const noexcept override {
    Traits traits = DescriptorNames::traits();
    traits.opens_together = together_;
    return traits;
  }

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    // MPI would follow links and wait for pipes; so POSIX opens first, and makes what is new.
    const bool makes = mode == OpenMode::kCreate || mode == OpenMode::kTruncate;
    Identity identity;
    const int error_here = look_at(at, name, mode, identity);
    if (makes && together_) return error_here;
    if (const int error = agreed_error(sharers_, error_here)) return error;
    // Another sharer may have begun to fill it: the first one's word counts.
    std::uint64_t bytes = identity.bytes;
    sharers_.broadcast(bytes);
    Open made;
    made.at = at;
    made.name = name;
    if (const int error = open_file(path_of(root_, at, name), mode, bytes == 0, made)) return error;
    out = files_.add(std::move(made));
    return 0;
  }
  int sync(Handle file, schema::SyncMode mode) override {
    if (mode == schema::SyncMode::kNone || mode == schema::SyncMode::kFlush) return 0;
    // What the library keeps back would be left out of it.
    if (mode == schema::SyncMode::kFileSystem) return ENOTSUP;
    // The libraries' own syncs are for all sharers together, and Open MPI's waits for them: where
    // one failed, or has fewer requests, the others would hang. A descriptor of the file does the
    // same.
    Handle descriptor = -1;
    const Open& open = files_[file];
    if (const int error =
            DescriptorNames::open(open.at, open.name.c_str(), OpenMode::kReadWrite, descriptor)) {
      return error;
    }
    const int error = DescriptorNames::sync(descriptor, mode);
    DescriptorNames::close(descriptor);
    return error;
  }
  int identify(Handle file, Identity& out) override {
    if (file < OpenTable<Open>::kFirst) return DescriptorNames::identify(file, out);
    return DescriptorNames::look_up(files_[file].at, files_[file].name.c_str(), out);
  }

  [[nodiscard]] std::vector<schema::Fact> facts(Handle file) const override {
    const Open& open = files_[file];
    std::vector<schema::Fact> facts = stripes_of(open.at, open.name.c_str());
    for (schema::Fact& fact : library_facts(open)) facts.push_back(std::move(fact));
    return facts;
  }

 protected:
  /// What the library says of an open file.
  [[nodiscard]] virtual std::vector<schema::Fact> library_facts(const Open& open) const = 0;
  /// The library's part of opening a file that is there, `is_new` if it is empty. Collective.
  virtual int open_file(const std::string& path, OpenMode mode, bool is_new, Open& out) = 0;

  /// Opens a file as POSIX does, and closes it: makes it, says what it is, or why it cannot be.
  int look_at(Directory at, const char* name, OpenMode mode, Identity& out) {
    Handle checked = -1;
    if (const int error = DescriptorNames::open(at, name, mode, checked)) return error;
    const int unknown = DescriptorNames::identify(checked, out);
    DescriptorNames::close(checked);
    if (unknown != 0) return unknown;
    return out.regular ? 0 : EINVAL;
  }

  [[nodiscard]] std::string path_of_open(const Open& open) const {
    return path_of(root_, open.at, open.name.c_str());
  }
  [[nodiscard]] OpenTable<Open>& files() noexcept { return files_; }
  [[nodiscard]] const OpenTable<Open>& files() const noexcept { return files_; }
  [[nodiscard]] MPI_Comm communicator() const noexcept { return communicator_; }
  [[nodiscard]] MPI_Info hints() const noexcept { return hints_.get(); }

 private:
  std::string root_;
  comm::Group& sharers_;
  bool together_;
  MPI_Comm communicator_;
  MpiHints hints_;
  OpenTable<Open> files_;
};

}  // namespace venturi::backend

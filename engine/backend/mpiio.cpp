// MPI-IO: independent, collective and non-blocking transfers; names go the way of POSIX.
#include <mpi.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "backend/descriptor_names.hpp"
#include "backend/mpi_file.hpp"
#include "backend/table.hpp"
#include "base/error.hpp"

namespace venturi::backend {
namespace {

/// How long `reap` looks before somebody else must.
constexpr std::uint64_t kReapNs = 1'000'000;

class MpiIo final : public DescriptorNames {
 public:
  MpiIo(const Environment& environment, const MpiFileOptions& options)
      : DescriptorNames(environment, {}),
        root_(environment.root + "/"),
        sharers_(*environment.sharers),
        together_(opens_together(*environment.file)),
        options_(options),
        communicator_(communicator_of(sharers_, "mpiio")),
        info_(*environment.file) {}

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
    const std::string path = path_of(root_, at, name);
    MPI_File file = MPI_FILE_NULL;
    const int how = mode == OpenMode::kRead ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
    if (const int error =
            errors_.note(MPI_File_open(communicator_, path.c_str(), how, info_.get(), &file))) {
      return error;
    }
    out = files_.add({file, at, name});
    return mode == OpenMode::kRead ? 0 : preallocate(file, identity);
  }
  int close(Handle file) override {
    OpenMpiFile closing = files_.take(file);
    return errors_.note(MPI_File_close(&closing.file));
  }
  int sync(Handle file, schema::SyncMode mode) override {
    if (mode == schema::SyncMode::kNone || mode == schema::SyncMode::kFlush) return 0;
    // What the library keeps back would be left out of it.
    if (mode == schema::SyncMode::kFileSystem) return ENOTSUP;
    // MPI_File_sync is for all sharers together, and Open MPI's waits for them: where one failed,
    // or has fewer requests, the others would hang. A descriptor of the file does the same.
    Handle descriptor = -1;
    const OpenMpiFile& open = files_[file];
    if (const int error =
            DescriptorNames::open(open.at, open.name.c_str(), OpenMode::kReadWrite, descriptor)) {
      return error;
    }
    const int error = DescriptorNames::sync(descriptor, mode);
    DescriptorNames::close(descriptor);
    return error;
  }
  int identify(Handle file, Identity& out) override {
    if (file < kFirstHandle) return DescriptorNames::identify(file, out);
    return DescriptorNames::stat(files_[file].at, files_[file].name.c_str(), out);
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i] = move(file, direction, requests[i], false);
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }
  Completion submit_together(Handle file, schema::Direction direction,
                             const Request& request) override {
    return move(file, direction, request, true);
  }

  int begin(Handle file, schema::Direction direction, const Request& request,
            std::uint32_t tag) override {
    const MpiBytes bytes(request.bytes);
    MPI_File handle = files_[file].file;
    const auto offset = static_cast<MPI_Offset>(request.offset);
    MPI_Request started = MPI_REQUEST_NULL;
    const int result = direction == schema::Direction::kWrite
                           ? MPI_File_iwrite_at(handle, offset, request.data, bytes.count(),
                                                bytes.type(), &started)
                           : MPI_File_iread_at(handle, offset, request.data, bytes.count(),
                                               bytes.type(), &started);
    if (const int error = errors_.note(result)) return error;
    started_.push_back(started);
    tags_.push_back(tag);
    return 0;
  }
  std::size_t reap(std::span<Done> out, std::uint64_t until_ns) override;

  [[nodiscard]] std::vector<schema::Fact> facts(Handle file) const override {
    return hints_in_force(files_[file].file);
  }
  [[nodiscard]] const char* hint(int) const noexcept override { return errors_.text(); }

 private:
  /// Opens a file as POSIX does, and closes it: makes it, says what it is, or why it cannot be.
  int look_at(Directory at, const char* name, OpenMode mode, Identity& out) {
    Handle checked = -1;
    if (const int error = DescriptorNames::open(at, name, mode, checked)) return error;
    const int unknown = DescriptorNames::identify(checked, out);
    DescriptorNames::close(checked);
    if (unknown != 0) return unknown;
    return out.regular ? 0 : EINVAL;
  }
  /// The first of those who open it says whether the file is new: its size is nothing.
  int preallocate(MPI_File file, const Identity& identity) {
    if (options_.preallocate_bytes == 0) return 0;
    std::uint64_t bytes = identity.bytes;
    sharers_.broadcast(bytes);
    if (bytes != 0) return 0;
    const auto wanted = static_cast<MPI_Offset>(options_.preallocate_bytes);
    return errors_.note(MPI_File_preallocate(file, wanted));
  }

  Completion move(Handle file, schema::Direction direction, const Request& request, bool together) {
    const MpiBytes bytes(request.bytes);
    MPI_File handle = files_[file].file;
    const auto offset = static_cast<MPI_Offset>(request.offset);
    const bool writes = direction == schema::Direction::kWrite;
    const auto write = together ? MPI_File_write_at_all : MPI_File_write_at;
    const auto read = together ? MPI_File_read_at_all : MPI_File_read_at;
    MPI_Status status;
    const int result =
        writes ? write(handle, offset, request.data, bytes.count(), bytes.type(), &status)
               : read(handle, offset, request.data, bytes.count(), bytes.type(), &status);
    const int error = errors_.note(result);
    return {clock().now_ns(), error != 0 ? 0 : bytes_moved(status), error};
  }

  std::string root_;
  comm::Group& sharers_;
  bool together_;
  MpiFileOptions options_;
  MPI_Comm communicator_;
  MpiHints info_;
  MpiErrors errors_;
  OpenMpiFiles files_;
  /// Requests in flight and their tags, in no order.
  std::vector<MPI_Request> started_;
  std::vector<std::uint32_t> tags_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

std::size_t MpiIo::reap(std::span<Done> out, std::uint64_t until_ns) {
  const std::size_t looked_at = std::min(started_.size(), out.size());
  indices_.resize(looked_at);
  statuses_.resize(looked_at);
  const std::uint64_t end = std::min(clock().now_ns() + kReapNs, until_ns);
  int ended = 0;
  int result = MPI_SUCCESS;
  do {
    result = MPI_Testsome(static_cast<int>(looked_at), started_.data(), &ended, indices_.data(),
                          statuses_.data());
    if (ended == MPI_UNDEFINED) return 0;
  } while (ended == 0 && clock().now_ns() < end);
  const std::uint64_t now = clock().now_ns();
  const auto count = static_cast<std::size_t>(ended);
  for (std::size_t i = 0; i < count; ++i) {
    // Without MPI_ERR_IN_STATUS the fields of errors are not set.
    const int error = result == MPI_SUCCESS ? 0 : errors_.note(statuses_[i].MPI_ERROR);
    const std::uint64_t bytes = error != 0 ? 0 : bytes_moved(statuses_[i]);
    out[i] = {tags_[static_cast<std::size_t>(indices_[i])], {now, bytes, error}};
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < started_.size(); ++i) {
    if (started_[i] == MPI_REQUEST_NULL) continue;
    started_[kept] = started_[i];
    tags_[kept++] = tags_[i];
  }
  started_.resize(kept);
  tags_.resize(kept);
  return count;
}

}  // namespace

const Entry& mpiio_entry();
const Entry& mpiio_entry() {
  static const Entry entry{
      {{"preallocate", "bytes", "0", "reserve so many bytes in each new file",
        "bytes, 0 for none"}},
      {kSharedFiles, kRandomAccess, kNames, kSync, kBytes, kDepth, kCollective, kHints},
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        const MpiFileOptions chosen{.preallocate_bytes =
                                        bytes_option(mpiio_entry(), options, "preallocate")};
        return std::make_unique<MpiIo>(environment, chosen);
      },
      true};
  return entry;
}

}  // namespace venturi::backend

// MPI-IO: independent, collective and non-blocking transfers; names go the way of POSIX.
#include <mpi.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "backend/mpi_names.hpp"
#include "backend/mpi_view.hpp"
#include "comm/launch.hpp"

namespace venturi::backend {
namespace {

/// How long `reap` looks before somebody else must.
constexpr std::uint64_t kReapNs = 1'000'000;

struct MpiIoOptions {
  std::uint64_t preallocate_bytes = 0;
};

/// An open file, and what it shows if not all of its bytes.
struct OpenMpiFile : OpenName {
  MPI_File file = MPI_FILE_NULL;
  std::optional<MpiView> view;
};

class MpiIo final : public MpiNames<OpenMpiFile> {
 public:
  MpiIo(const Environment& environment, const MpiIoOptions& options)
      : MpiNames(environment, "mpiio"), options_(options) {}

  int close(Handle file) override {
    OpenMpiFile closing = files().take(file);
    return errors_.note(MPI_File_close(&closing.file));
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
    const OpenMpiFile& open = files()[file];
    const MPI_Offset offset = offset_of(open, request);
    const MpiBytes bytes(request.bytes);
    MPI_Request started = MPI_REQUEST_NULL;
    const int result = direction == schema::Direction::kWrite
                           ? MPI_File_iwrite_at(open.file, offset, request.data, bytes.count(),
                                                bytes.type(), &started)
                           : MPI_File_iread_at(open.file, offset, request.data, bytes.count(),
                                               bytes.type(), &started);
    if (const int error = errors_.note(result)) return error;
    started_.push_back(started);
    tags_.push_back(tag);
    return 0;
  }
  std::size_t reap(std::span<Done> out, std::uint64_t until_ns) override;

  [[nodiscard]] bool shows(Handle file, const pattern::NestCursor& nest) const override {
    return files()[file].view == MpiView(nest);
  }
  int show(Handle file, const pattern::NestCursor& nest) override {
    OpenMpiFile& open = files()[file];
    open.view.emplace(nest);
    return errors_.note(open.view->set(open.file));
  }

  [[nodiscard]] const char* hint(int error) const noexcept override {
    return *errors_.text() == '\0' ? DescriptorNames::hint(error) : errors_.text();
  }

 protected:
  [[nodiscard]] std::vector<schema::Fact> library_facts(const OpenMpiFile& open) const override {
    return hints_in_force(open.file);
  }
  int open_file(const std::string& path, OpenMode mode, bool is_new, OpenMpiFile& out) override {
    const int how = mode == OpenMode::kRead ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
    const int error =
        errors_.note(MPI_File_open(communicator(), path.c_str(), how, hints(), &out.file));
    if (error != 0 || !is_new || mode == OpenMode::kRead || options_.preallocate_bytes == 0) {
      return error;
    }
    const auto wanted = static_cast<MPI_Offset>(options_.preallocate_bytes);
    return errors_.note(MPI_File_preallocate(out.file, wanted));
  }

 private:
  /// In bytes of what the file shows.
  static MPI_Offset offset_of(const OpenMpiFile& open, const Request& request) {
    if (!open.view) return static_cast<MPI_Offset>(request.offset);
    return request.bytes == 0 ? 0 : open.view->position_of(request.offset);
  }

  Completion move(Handle file, schema::Direction direction, const Request& request, bool together) {
    const OpenMpiFile& open = files()[file];
    const MPI_Offset offset = offset_of(open, request);
    const MpiBytes bytes(request.bytes);
    const bool writes = direction == schema::Direction::kWrite;
    const auto write = together ? MPI_File_write_at_all : MPI_File_write_at;
    const auto read = together ? MPI_File_read_at_all : MPI_File_read_at;
    MPI_Status status;
    const int result =
        writes ? write(open.file, offset, request.data, bytes.count(), bytes.type(), &status)
               : read(open.file, offset, request.data, bytes.count(), bytes.type(), &status);
    const int error = errors_.note(result);
    return {clock().now_ns(), error != 0 ? 0 : bytes_moved(status), error};
  }

  MpiIoOptions options_;
  MpiErrors errors_;
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

const Description& mpiio_description();
const Entry& mpiio_entry();
const Entry& mpiio_entry() {
  static const Entry entry{
      mpiio_description().options,
      mpiio_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        const MpiIoOptions chosen{.preallocate_bytes =
                                      bytes_option(mpiio_entry(), options, "preallocate")};
        return std::make_unique<MpiIo>(environment, chosen);
      },
      true,
      nullptr,
      [](const schema::File& file) {
        return word_option(mpiio_entry(), file.options, "view") != "none";
      },
      comm::mpi_library};
  return entry;
}

}  // namespace venturi::backend

// The C library's streams: small requests gather in a buffer of the process, as Fortran's do. With
// `records: fortran` each request is a record of a sequential unformatted file: its length in 4
// bytes before and behind it.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <memory>
#include <vector>

#include "backend/descriptor_names.hpp"
#include "backend/table.hpp"

namespace venturi::backend {
namespace {

/// Longer ones would need several markers.
constexpr std::uint64_t kMostRecordBytes = 2147483639;

/// One open file. An error of a write may show at a later call, when the buffer is emptied.
struct Stream {
  std::FILE* file = nullptr;
  std::unique_ptr<char[]> buffer;
  /// Where the stream is.
  std::uint64_t position = 0;
  schema::Direction last = schema::Direction::kRead;
};

class Stdio final : public DescriptorNames {
 public:
  Stdio(const Environment& environment, std::uint64_t buffer_bytes, bool records)
      : DescriptorNames(environment, {}), buffer_bytes_(buffer_bytes), records_(records) {}

  Stdio(const Stdio&) = delete;
  Stdio& operator=(const Stdio&) = delete;
  /// Before their buffers go: the C library empties open streams when the process ends.
  ~Stdio() override {
    for (const Stream& stream : streams_) {
      if (stream.file != nullptr) std::fclose(stream.file);
    }
  }

  int close(Handle file) override {
    Stream& stream = at(file);
    const int result = std::fclose(stream.file) == 0 ? 0 : errno;
    stream = {};
    return result;
  }

  int sync(Handle file, schema::SyncMode mode) override {
    if (mode == schema::SyncMode::kNone) return 0;
    // For the whole file system no file is named, so all streams are flushed.
    std::FILE* stream = mode == schema::SyncMode::kFileSystem ? nullptr : at(file).file;
    if (std::fflush(stream) != 0) return errno;
    return DescriptorNames::sync(file, mode);
  }

  int stat_open(Handle file) override { return stat_descriptor(file); }

  int set_open_status(Handle file, StatusPart part) override {
    return set_descriptor_status(file, part);
  }

  /// To where the stream is: what waits in the buffer is handed over, and read anew.
  int seek(Handle file, std::uint64_t) override {
    const Stream& stream = at(file);
    return ::fseeko(stream.file, static_cast<off_t>(stream.position), SEEK_SET) == 0 ? 0 : errno;
  }

  /// Leaves the stream there, so the next request positions it. Not where the file ends now: other
  /// ranks may move the end.
  int read_behind(Handle file, std::span<std::byte> data) override {
    Stream& stream = at(file);
    if (::fseeko(stream.file, kFarBehind, SEEK_SET) != 0) return errno;
    const std::size_t moved = std::fread(data.data(), 1, data.size(), stream.file);
    const bool failed = std::ferror(stream.file) != 0;
    std::clearerr(stream.file);
    stream.last = schema::Direction::kRead;
    stream.position = std::numeric_limits<std::uint64_t>::max();
    if (failed) return EIO;
    return moved == 0 ? 0 : EFBIG;
  }

  /// The buffer is emptied first, as programs must do it.
  int truncate(Handle file, std::uint64_t bytes) override {
    if (std::fflush(at(file).file) != 0) return errno;
    return ::ftruncate(static_cast<int>(file), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  }

  int identify(Handle file, Identity& out) override {
    const int error = DescriptorNames::identify(file, out);
    const auto index = static_cast<std::size_t>(file);
    if (error != 0 || index >= streams_.size() || streams_[index].file == nullptr) return error;
    // What waits in the buffer is a part of the file for whoever has the stream.
    const Stream& stream = streams_[index];
    if (stream.last == schema::Direction::kWrite) out.bytes = std::max(out.bytes, stream.position);
    return 0;
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    Stream& stream = at(file);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i] =
          records_ ? record(stream, direction, requests[i]) : one(stream, direction, requests[i]);
      completions[i].end_ns = clock().now_ns();
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }

  [[nodiscard]] const char* hint(int error) const noexcept override {
    return complaint_ != nullptr ? complaint_ : DescriptorNames::hint(error);
  }

 protected:
  int opened(int descriptor, OpenMode mode) override {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= streams_.size()) streams_.resize(index + 1);
    Stream& stream = streams_[index];
    stream = {};
    stream.file = ::fdopen(descriptor, mode == OpenMode::kRead ? "r" : "r+");
    if (stream.file == nullptr) return errno;
    if (buffer_bytes_ == 0) return 0;
    stream.buffer = std::make_unique<char[]>(buffer_bytes_);
    return std::setvbuf(stream.file, stream.buffer.get(), _IOFBF, buffer_bytes_) == 0 ? 0 : EINVAL;
  }

 private:
  Stream& at(Handle file) { return streams_[static_cast<std::size_t>(file)]; }

  static Completion one(Stream& stream, schema::Direction direction, const Request& request) {
    // A stream may only turn from writing to reading, and back, where it is positioned.
    if (stream.position != request.offset || stream.last != direction) {
      if (::fseeko(stream.file, static_cast<off_t>(request.offset), SEEK_SET) != 0) {
        return {0, 0, errno};
      }
      stream.last = direction;
    }
    errno = 0;
    const std::size_t moved = direction == schema::Direction::kWrite
                                  ? std::fwrite(request.data, 1, request.bytes, stream.file)
                                  : std::fread(request.data, 1, request.bytes, stream.file);
    stream.position = request.offset + moved;
    if (moved == request.bytes) return {0, moved, 0};
    const int error = std::ferror(stream.file) != 0 ? errno : 0;
    std::clearerr(stream.file);
    return {0, moved, error};
  }

  /// A record has no offset: it is the next one of the stream, and what follows the end of a read
  /// within it is passed over, as Fortran does.
  Completion record(Stream& stream, schema::Direction direction, const Request& request) {
    if (request.bytes > kMostRecordBytes) {
      return complain(EFBIG,
                      "a record of Fortran with markers of 4 bytes ends at 2147483639 bytes");
    }
    auto marker = static_cast<std::uint32_t>(request.bytes);
    std::uint64_t at = stream.position;
    const auto move = [&](void* data, std::uint64_t bytes) {
      const Completion moved =
          one(stream, direction, {at, bytes, static_cast<std::byte*>(data), nullptr});
      at += moved.bytes;
      return moved;
    };
    const Completion first = move(&marker, sizeof marker);
    if (first.error != 0 || first.bytes != sizeof marker) return {0, 0, first.error};
    if (marker < request.bytes) return complain(EIO, "the record is shorter than what is read");
    const Completion data = move(request.data, request.bytes);
    if (data.bytes != request.bytes) return data;
    at += marker - request.bytes;
    std::uint32_t behind = marker;
    const Completion last = move(&behind, sizeof behind);
    if (last.error != 0) return {0, 0, last.error};
    if (last.bytes != sizeof behind || behind != marker) {
      return complain(EIO, "the markers of the record differ: this is no file of Fortran records");
    }
    return data;
  }

  Completion complain(int error, const char* what) noexcept {
    complaint_ = what;
    return {0, 0, error};
  }

  std::uint64_t buffer_bytes_;
  bool records_;
  const char* complaint_ = nullptr;
  /// By descriptor.
  std::vector<Stream> streams_;
};

}  // namespace

const Description& stdio_description();
const Description& stdio_description() {
  static const Description description{
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kBytes, kAppend,
                       kTruncate, kSeek},
      .options = {{"buffer_bytes", "bytes", "0", "size of a stream's buffer, given with setvbuf",
                   "0 (what the C library chooses) to 1 GiB", 0.0, 0x1p30},
                  {"records", "word", "none",
                   "fortran: each request is the next record of a sequential unformatted file",
                   "none|fortran"}},
      .buffers = true,
      .calls = {.write = "fwrite()",
                .read = "fread()",
                .both = "fwrite() and fread()",
                .sync = "fflush() and {sync}()",
                .flush = "fflush() (std::endl in C++, FLUSH in Fortran, flush() in Python)"},
      .elsewhere = {.trace_layers = {"stdio"}},
  };
  return description;
}

const Entry& stdio_entry();
const Entry& stdio_entry() {
  static const Entry entry{
      stdio_description().options, stdio_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        return std::make_unique<Stdio>(environment,
                                       bytes_option(stdio_entry(), options, "buffer_bytes"),
                                       word_option(stdio_entry(), options, "records") == "fortran");
      }};
  return entry;
}

}  // namespace venturi::backend

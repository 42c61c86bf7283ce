// Pieces of several ranks in one file: a model of libraries such as Hercule, which gather what a
// group of ranks contributes. The first sharer writes all pieces, one behind the other, and an
// index behind them when the file is closed. Each piece is compressed by the rank that has it.
//
// A place in the file is the name of a piece: what one write put there is read as a whole. The end
// of a file, all numbers of 64 bits in the order of the machine: for each piece its place, its
// bytes, where it is stored and how many bytes it takes there (fewer: it is zlib's); then where
// this index begins, the number of pieces, and the word VENBNDL1.
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/gather.hpp"
#include "backend/library_names.hpp"
#include "backend/move_all.hpp"
#include "base/buffer.hpp"

namespace venturi::backend {
namespace {

constexpr std::uint64_t kWord = 0x314c444e424e4556;  // VENBNDL1

/// Where a piece is.
struct Piece {
  std::uint64_t bytes = 0;
  std::uint64_t at = 0;
  std::uint64_t stored_bytes = 0;
};

/// A piece in the index.
struct Row {
  std::uint64_t place = 0;
  Piece piece;
};
static_assert(sizeof(Row) == 32);

/// What a file ends with.
struct Tail {
  std::uint64_t index = 0;
  std::uint64_t count = 0;
  std::uint64_t word = kWord;
};
static_assert(sizeof(Tail) == 24);

struct OpenBundle {
  std::map<std::uint64_t, Piece> pieces;
  std::uint64_t end = 0;
  /// The index in the file is not that of the pieces.
  bool changed = false;
};

class Bundle final : public LibraryNames<OpenBundle> {
 public:
  /// `level` is zlib's; 0: nothing is compressed.
  Bundle(const Environment& environment, int level)
      : LibraryNames(environment), gathers_(opens_together(*environment.file)), level_(level) {}

  int close(Handle file) override {
    const int error = write_index(file);
    at(file) = {};
    const int closed = DescriptorNames::close(file);
    return error != 0 ? error : closed;
  }

  int sync(Handle file, schema::SyncMode mode) override {
    if (mode == schema::SyncMode::kNone) return 0;
    // What this keeps back would be left out of it.
    if (mode == schema::SyncMode::kFileSystem) return ENOTSUP;
    if (const int error = write_index(file)) return error;
    return DescriptorNames::sync(file, mode);
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const int error = direction == schema::Direction::kRead ? get(file, requests[i])
                        : gathers_ || level_ == 0             ? put(file, requests[i])
                                                              : put(file, pack(requests[i]));
      completions[i] = {clock().now_ns(), error != 0 ? 0 : requests[i].bytes, error};
      if (error != 0) return i + 1;
    }
    return requests.size();
  }

  /// A write with its size before its data, which is compressed where that makes it smaller.
  Request pack(const Request& request) {
    const uLong most = ::compressBound(request.bytes);
    std::byte* to = memory_.reserve(sizeof request.bytes + most);
    std::memcpy(to, &request.bytes, sizeof request.bytes);
    auto packed = static_cast<uLongf>(most);
    const int result =
        ::compress2(reinterpret_cast<Bytef*>(to + sizeof request.bytes), &packed,
                    reinterpret_cast<const Bytef*>(request.data), request.bytes, level_);
    if (result != Z_OK || packed >= request.bytes) {
      std::memcpy(to + sizeof request.bytes, request.data, request.bytes);
      packed = request.bytes;
    }
    saved_bytes_ += request.bytes - packed;
    return {request.offset, sizeof request.bytes + packed, to};
  }

  [[nodiscard]] std::uint64_t saved_bytes() const noexcept override { return saved_bytes_; }
  [[nodiscard]] const char* hint(int error) const noexcept override {
    return complaint_ != nullptr ? complaint_ : DescriptorNames::hint(error);
  }

 protected:
  int open_content(int descriptor, OpenMode mode, bool is_new, OpenBundle& out) override;

 private:
  int put(Handle file, const Request& request);
  int get(Handle file, const Request& request);
  int write_index(Handle file);
  int complain(int error, const char* what) noexcept {
    complaint_ = what;
    return error;
  }

  bool gathers_;
  int level_;
  std::uint64_t saved_bytes_ = 0;
  const char* complaint_ = nullptr;
  /// A piece as it is stored.
  base::Buffer memory_;
};

int Bundle::open_content(int descriptor, OpenMode, bool is_new, OpenBundle& out) {
  constexpr const char* kNone = "this is no bundle, or its writer did not close it";
  complaint_ = nullptr;
  out.changed = is_new;
  if (is_new) return 0;
  Identity identity;
  if (const int error = identify(descriptor, identity)) return error;
  Tail tail;
  if (identity.bytes < sizeof tail) return complain(EINVAL, kNone);
  const std::uint64_t end = identity.bytes - sizeof tail;
  if (const int error = read_at(descriptor, std::as_writable_bytes(std::span(&tail, 1)), end))
    return error;
  if (tail.word != kWord || tail.index > end || (end - tail.index) % sizeof(Row) != 0 ||
      (end - tail.index) / sizeof(Row) != tail.count) {
    return complain(EINVAL, kNone);
  }
  std::vector<Row> rows(tail.count);
  if (const int error = read_at(descriptor, std::as_writable_bytes(std::span(rows)), tail.index)) {
    return error;
  }
  for (const Row& row : rows) out.pieces[row.place] = row.piece;
  out.end = identity.bytes;
  return 0;
}

/// A piece that is put again takes new space, as in a library that only appends.
int Bundle::put(Handle file, const Request& request) {
  OpenBundle& bundle = at(file);
  Piece piece{request.bytes, bundle.end, request.bytes};
  const std::byte* data = request.data;
  if (level_ > 0) {
    std::memcpy(&piece.bytes, data, sizeof piece.bytes);
    data += sizeof piece.bytes;
    piece.stored_bytes -= sizeof piece.bytes;
  }
  if (const int error = write_at(static_cast<int>(file), {data, piece.stored_bytes}, piece.at))
    return error;
  bundle.pieces[request.offset] = piece;
  bundle.end += piece.stored_bytes;
  bundle.changed = true;
  return 0;
}

int Bundle::get(Handle file, const Request& request) {
  const OpenBundle& bundle = at(file);
  const auto found = bundle.pieces.find(request.offset);
  if (found == bundle.pieces.end() || found->second.bytes != request.bytes) {
    return complain(ENOENT,
                    "a bundle has no piece of this size at this place: read what one write put "
                    "there, as a whole");
  }
  const Piece& piece = found->second;
  const int descriptor = static_cast<int>(file);
  if (piece.stored_bytes == piece.bytes) {
    return read_at(descriptor, {request.data, piece.bytes}, piece.at);
  }
  std::byte* packed = memory_.reserve(piece.stored_bytes);
  if (const int error = read_at(descriptor, {packed, piece.stored_bytes}, piece.at)) return error;
  auto bytes = static_cast<uLongf>(request.bytes);
  const int result =
      ::uncompress(reinterpret_cast<Bytef*>(request.data), &bytes,
                   reinterpret_cast<const Bytef*>(packed), static_cast<uLong>(piece.stored_bytes));
  return result == Z_OK && bytes == request.bytes ? 0 : complain(EIO, "the piece is damaged");
}

/// What follows goes behind it, so that a file is whole at every sync.
int Bundle::write_index(Handle file) {
  OpenBundle& bundle = at(file);
  if (!bundle.changed) return 0;
  std::vector<Row> rows;
  rows.reserve(bundle.pieces.size());
  for (const auto& [place, piece] : bundle.pieces) rows.push_back({place, piece});
  const Tail tail{bundle.end, rows.size()};
  const int descriptor = static_cast<int>(file);
  const auto index = std::as_bytes(std::span(rows));
  if (const int error = write_at(descriptor, index, tail.index)) return error;
  const auto end = std::as_bytes(std::span(&tail, 1));
  if (const int error = write_at(descriptor, end, tail.index + index.size())) return error;
  bundle.end = tail.index + index.size() + end.size();
  bundle.changed = false;
  return 0;
}

}  // namespace

const Description& bundle_description();
const Entry& bundle_entry();
const Entry& bundle_entry() {
  static const Entry entry{
      bundle_description().options,
      bundle_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        const auto level = static_cast<int>(integer_option(bundle_entry(), options, "zlib"));
        auto storage = std::make_unique<Bundle>(environment, level);
        if (!opens_together(*environment.file)) return storage;
        if (level == 0) return make_gathered(std::move(storage), environment);
        Bundle& bundle = *storage;
        return make_gathered(std::move(storage), environment,
                             [&bundle](const Request& request) { return bundle.pack(request); });
      },
      true,
      opens_together,
      nullptr,
      [] { return "zlib " + std::string(::zlibVersion()); }};
  return entry;
}

}  // namespace venturi::backend

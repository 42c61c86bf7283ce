// Bytes go to the first sharer, which makes all the library's calls, and back.
#include "backend/gather.hpp"

#include <cerrno>
#include <functional>
#include <utility>

#include "backend/descriptor_names.hpp"
#include "base/buffer.hpp"

namespace venturi::backend {
namespace {

/// What a sharer wants of the first one.
struct SharerRequest {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool has_box = false;
  pattern::Box box;
};

/// What a sharer without the library has of a file: its descriptor, for its identity.
class Names final : public DescriptorNames {
 public:
  explicit Names(const Environment& environment) : DescriptorNames(environment, {}) {}
  std::size_t submit(Handle, schema::Direction, std::span<const Request>,
                     std::span<Completion> completions) override {
    completions[0] = {clock().now_ns(), 0, ENOTSUP};
    return 1;
  }
};

class Gathered final : public Backend {
 public:
  Gathered(std::unique_ptr<Backend> inner, const Environment& environment,
           std::function<Request(const Request&)> pack)
      : inner_(std::move(inner)),
        pack_(std::move(pack)),
        names_(environment),
        sharers_(environment.sharers),
        clock_(environment.clock) {}

  [[nodiscard]] Traits traits() const noexcept override {
    Traits traits = inner_->traits();
    traits.opens_together = true;
    return traits;
  }

  int open_directory(const char* path, Directory& out) override {
    return names_.open_directory(path, out);
  }
  void close_directory(Directory directory) noexcept override { names_.close_directory(directory); }

  /// The name is made by one alone. The first sharer opens; if that went well, the others find the
  /// same file.
  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    if (mode == OpenMode::kCreate || mode == OpenMode::kTruncate) {
      const int error = names_.open(at, name, mode, out);
      if (error == 0) names_.close(std::exchange(out, -1));
      return error;
    }
    int error = is_first() ? inner_->open(at, name, mode, out) : 0;
    sharers_->broadcast(error);
    if (is_first()) return error;
    return error != 0 ? ECANCELED : names_.open(at, name, OpenMode::kRead, out);
  }
  int close(Handle file) override {
    int error = is_first() ? inner_->close(file) : 0;
    sharers_->broadcast(error);
    if (is_first()) return error;
    names_.close(file);
    return error != 0 ? ECANCELED : 0;
  }
  int sync(Handle file, schema::SyncMode mode) override {
    return is_first() ? inner_->sync(file, mode) : 0;
  }
  int identify(Handle file, Identity& out) override {
    return is_first() ? inner_->identify(file, out) : names_.identify(file, out);
  }

  int look_up(Directory at, const char* name, Identity& out) override {
    return names_.look_up(at, name, out);
  }
  int stat(Directory at, const char* name) override { return names_.stat(at, name); }
  int set_status(Directory at, const char* name, StatusPart part) override {
    return names_.set_status(at, name, part);
  }
  int unlink(Directory at, const char* name) override { return names_.unlink(at, name); }
  int make_directory(Directory at, const char* name) override {
    return names_.make_directory(at, name);
  }
  int remove_directory(Directory at, const char* name) override {
    return names_.remove_directory(at, name);
  }

  std::size_t submit(Handle, schema::Direction, std::span<const Request>,
                     std::span<Completion> completions) override {
    completions[0] = {clock_->now_ns(), 0, ENOTSUP};
    return 1;
  }

  Completion submit_together(Handle file, schema::Direction direction,
                             const Request& request) override {
    const bool packs = pack_ && direction == schema::Direction::kWrite && request.bytes > 0;
    const Request own = packs ? pack_(request) : request;
    SharerRequest mine{own.offset, own.bytes, own.box != nullptr, {}};
    if (own.box != nullptr) mine.box = *own.box;
    const std::vector<SharerRequest> sharer_requests = sharers_->gather(mine);
    Completion result =
        is_first() ? serve(file, direction, own, sharer_requests) : ask(direction, own);
    if (result.bytes == own.bytes) result.bytes = request.bytes;
    result.end_ns = clock_->now_ns();
    return result;
  }

  [[nodiscard]] std::vector<schema::Fact> facts(Handle file) const override {
    if (!is_first()) return {};
    std::vector<schema::Fact> facts = inner_->facts(file);
    facts.push_back({"gathering", "the first of the ranks that share the file"});
    return facts;
  }
  [[nodiscard]] std::uint64_t saved_bytes() const noexcept override {
    return inner_->saved_bytes();
  }
  [[nodiscard]] const char* hint(int error) const noexcept override { return inner_->hint(error); }

 private:
  [[nodiscard]] bool is_first() const noexcept { return sharers_->rank() == 0; }

  Completion ask(schema::Direction direction, const Request& request) {
    Completion result;
    if (request.bytes == 0) return result;
    const std::span<std::byte> data(request.data, request.bytes);
    if (direction == schema::Direction::kWrite) {
      sharers_->send(0, data);
    } else {
      sharers_->receive(0, data);
    }
    sharers_->receive(0, std::as_writable_bytes(std::span(&result, 1)));
    return result;
  }

  Completion serve(Handle file, schema::Direction direction, const Request& own,
                   const std::vector<SharerRequest>& sharer_requests) {
    Completion mine;
    if (own.bytes > 0) mine = move(file, direction, own);
    std::uint64_t serving_ns = mine.serving_ns;
    for (std::size_t rank = 1; rank < sharer_requests.size(); ++rank) {
      if (sharer_requests[rank].bytes > 0)
        serving_ns += serve_other(file, direction, rank, sharer_requests[rank]);
    }
    mine.serving_ns = serving_ns;
    return mine;
  }

  Completion move(Handle file, schema::Direction direction, const Request& request) {
    const std::uint64_t begin = clock_->now_ns();
    Completion result;
    inner_->submit(file, direction, {&request, 1}, {&result, 1});
    result.serving_ns = clock_->now_ns() - begin;
    return result;
  }

  /// Returns how long the library took.
  std::uint64_t serve_other(Handle file, schema::Direction direction, std::size_t rank,
                            const SharerRequest& sharer_request) {
    const Request request{sharer_request.offset, sharer_request.bytes,
                          buffer_.reserve(sharer_request.bytes),
                          sharer_request.has_box ? &sharer_request.box : nullptr};
    const std::span<std::byte> data(request.data, request.bytes);
    const bool writes = direction == schema::Direction::kWrite;
    if (writes) sharers_->receive(rank, data);
    Completion result = move(file, direction, request);
    const std::uint64_t serving_ns = std::exchange(result.serving_ns, 0);
    if (!writes) sharers_->send(rank, data);
    sharers_->send(rank, std::as_bytes(std::span(&result, 1)));
    return serving_ns;
  }

  std::unique_ptr<Backend> inner_;
  std::function<Request(const Request&)> pack_;
  Names names_;
  comm::Group* sharers_;
  base::Clock* clock_;
  base::Buffer buffer_;
};

}  // namespace

std::unique_ptr<Backend> make_gathered(std::unique_ptr<Backend> inner,
                                       const Environment& environment,
                                       std::function<Request(const Request&)> pack) {
  return std::make_unique<Gathered>(std::move(inner), environment, std::move(pack));
}

}  // namespace venturi::backend

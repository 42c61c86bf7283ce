// Makes any storage fail on purpose: the n-th operation of a kind gives an error, is short, waits,
// loses a bit, or never ends.
#include <sys/types.h>

#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "backend/table.hpp"

namespace venturi::backend {
namespace {

using schema::FaultKind;
using schema::OperationKind;

class Faulty : public Backend {
 public:
  Faulty(std::unique_ptr<Backend> inner, const Environment& environment,
         const std::vector<schema::Fault>& faults)
      : inner_(std::move(inner)),
        clock_(environment.clock),
        poll_(environment.poll),
        sharers_(environment.sharers) {
    for (const schema::Fault& fault : faults) {
      const bool here = fault.rank < 0 || static_cast<std::size_t>(fault.rank) == environment.rank;
      if (here) armed_.push_back({fault, 0});
    }
  }

  [[nodiscard]] Traits traits() const noexcept override { return inner_->traits(); }
  [[nodiscard]] const char* hint(int error) const noexcept override { return inner_->hint(error); }
  [[nodiscard]] bool knows(Handle file, const Request& request) const noexcept override {
    return inner_->knows(file, request);
  }
  int open_directory(const char* path, Directory& out) override {
    return inner_->open_directory(path, out);
  }
  void close_directory(Directory directory) noexcept override {
    inner_->close_directory(directory);
  }
  int identify(Handle file, Identity& out) override { return inner_->identify(file, out); }

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    const bool creates = mode == OpenMode::kCreate || mode == OpenMode::kTruncate;
    const int error = before(creates ? OperationKind::kCreate : OperationKind::kOpen);
    if (inner_->traits().opens_together && !creates) {
      // If one does not come, the others must not go.
      const bool any = sharers_->maximum(static_cast<std::uint64_t>(error != 0)) != 0;
      if (any && error == 0) return ECANCELED;
    }
    return error != 0 ? error : inner_->open(at, name, mode, out);
  }
  int close(Handle file) override {
    // The file is closed in any case, as Linux does when close reports an error.
    const int error = before(OperationKind::kClose);
    const int result = inner_->close(file);
    return error != 0 ? error : result;
  }
  int sync(Handle file, schema::SyncMode mode) override {
    const int error = before(OperationKind::kSync);
    return error != 0 ? error : inner_->sync(file, mode);
  }
  int look_up(Directory at, const char* name, Identity& out) override {
    return inner_->look_up(at, name, out);
  }
  int stat(Directory at, const char* name) override {
    const int error = before(OperationKind::kStat);
    return error != 0 ? error : inner_->stat(at, name);
  }
  int set_status(Directory at, const char* name, StatusPart part) override {
    const int error = before(OperationKind::kSetAttribute);
    return error != 0 ? error : inner_->set_status(at, name, part);
  }
  int unlink(Directory at, const char* name) override {
    const int error = before(OperationKind::kUnlink);
    return error != 0 ? error : inner_->unlink(at, name);
  }
  int make_directory(Directory at, const char* name) override {
    const int error = before(OperationKind::kMkdir);
    return error != 0 ? error : inner_->make_directory(at, name);
  }
  int remove_directory(Directory at, const char* name) override {
    const int error = before(OperationKind::kRmdir);
    return error != 0 ? error : inner_->remove_directory(at, name);
  }
  int rename(Directory at, const char* from, const char* to) override {
    const int error = before(OperationKind::kRename);
    return error != 0 ? error : inner_->rename(at, from, to);
  }
  int replace(Directory at, const char* from, const char* to) override {
    const int error = before(OperationKind::kRename);
    return error != 0 ? error : inner_->replace(at, from, to);
  }
  int truncate(Handle file, std::uint64_t bytes) override {
    const int error = before(OperationKind::kTruncate);
    return error != 0 ? error : inner_->truncate(file, bytes);
  }
  int seek(Handle file, std::uint64_t offset) override {
    const int error = before(OperationKind::kSeek);
    return error != 0 ? error : inner_->seek(file, offset);
  }
  int read_behind(Handle file, std::span<std::byte> data) override {
    const int error = before(OperationKind::kEmptyRead);
    return error != 0 ? error : inner_->read_behind(file, data);
  }
  int copy(Handle from, Handle to, schema::CopyWay way, Copied& out) override {
    const int error = before(OperationKind::kCopy);
    return error != 0 ? error : inner_->copy(from, to, way, out);
  }
  int link(Directory at, const char* name, const char* other) override {
    const int error = before(OperationKind::kLink);
    return error != 0 ? error : inner_->link(at, name, other);
  }
  int symlink(Directory at, const char* target, const char* name) override {
    const int error = before(OperationKind::kSymlink);
    return error != 0 ? error : inner_->symlink(at, target, name);
  }
  int make_node(Directory at, const char* name) override {
    const int error = before(OperationKind::kMknod);
    return error != 0 ? error : inner_->make_node(at, name);
  }
  int read_directory(Directory at, const char* name, std::uint64_t& count) override {
    const int error = before(OperationKind::kReadDir);
    return error != 0 ? error : inner_->read_directory(at, name, count);
  }
  int set_attribute(Handle file, const char* name, std::span<const std::byte> data) override {
    const int error = before(OperationKind::kSetXattr);
    return error != 0 ? error : inner_->set_attribute(file, name, data);
  }
  int get_attribute(Handle file, const char* name, std::span<std::byte> data) override {
    const int error = before(OperationKind::kGetXattr);
    return error != 0 ? error : inner_->get_attribute(file, name, data);
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i] = one(file, direction, requests[i]);
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }

  /// A rank that fails takes part with nothing.
  Completion submit_together(Handle file, schema::Direction direction,
                             const Request& request) override {
    if (request.bytes == 0) return inner_->submit_together(file, direction, request);
    Suffering suffering(*this, direction, request);
    if (suffering.error() != 0) {
      inner_->submit_together(file, direction, {});
      return {clock_->now_ns(), 0, suffering.error()};
    }
    if (suffering.is_dropped()) {
      inner_->submit_together(file, direction, {});
      return {clock_->now_ns(), request.bytes, 0};
    }
    const Completion completion = inner_->submit_together(file, direction, suffering.request());
    suffering.flipped().end();
    return completion;
  }
  void end_together(Handle file) override { inner_->end_together(file); }
  [[nodiscard]] bool shows(Handle file, const pattern::NestCursor& nest) const override {
    return inner_->shows(file, nest);
  }
  int show(Handle file, const pattern::NestCursor& nest) override {
    return inner_->show(file, nest);
  }
  [[nodiscard]] std::vector<schema::Fact> facts(Handle file) const override {
    return inner_->facts(file);
  }
  [[nodiscard]] std::uint64_t saved_bytes() const noexcept override {
    return inner_->saved_bytes();
  }

  int arrange(Handle file, std::uint32_t depth, std::span<std::byte> memory) override {
    flipped_.assign(depth, Flipped{});
    failed_.reserve(depth);
    return inner_->arrange(file, depth, memory);
  }
  /// A request that fails never reaches the storage: `reap` tells of it.
  int begin(Handle file, schema::Direction direction, const Request& request,
            std::uint32_t tag) override {
    Suffering suffering(*this, direction, request);
    if (suffering.error() != 0) {
      failed_.push_back({tag, {clock_->now_ns(), 0, suffering.error()}});
      return 0;
    }
    if (suffering.is_dropped()) {
      failed_.push_back({tag, {clock_->now_ns(), request.bytes, 0}});
      return 0;
    }
    flipped_[tag] = suffering.flipped();
    return inner_->begin(file, direction, suffering.request(), tag);
  }
  std::size_t reap(std::span<Done> done, std::uint64_t until_ns) override {
    if (!failed_.empty()) {
      done[0] = failed_.back();
      failed_.pop_back();
      return 1;
    }
    const std::size_t count = inner_->reap(done, until_ns);
    for (std::size_t i = 0; i < count; ++i) flipped_[done[i].tag].end();
    return count;
  }

 private:
  struct Armed {
    schema::Fault fault;
    std::int64_t seen;
  };

  /// Counts the operation and returns the fault that hits it, if any.
  const schema::Fault* hit(OperationKind kind) {
    const schema::Fault* found = nullptr;
    for (Armed& armed : armed_) {
      const schema::Fault& fault = armed.fault;
      if (fault.operation != kind) continue;
      const std::int64_t beyond = ++armed.seen - fault.nth;
      const bool hits = beyond == 0 || (beyond > 0 && fault.every > 0 && beyond % fault.every == 0);
      if (hits && found == nullptr) found = &fault;
    }
    return found;
  }

  void delay(double seconds) {
    const auto ns = static_cast<std::uint64_t>(seconds * base::kNsPerS);
    if (clock_->is_simulated()) {
      clock_->advance(ns);
      return;
    }
    const std::uint64_t end = clock_->now_ns() + ns;
    while (clock_->now_ns() < end) nap();
  }

  void nap() {
    poll_();
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&pause, nullptr);
  }

  /// The errno of a fault, after it has waited as it should.
  int suffer(const schema::Fault& fault) {
    if (fault.kind == FaultKind::kDelay) delay(fault.seconds);
    while (fault.kind == FaultKind::kHang) nap();
    if (fault.kind == FaultKind::kEio) return EIO;
    return fault.kind == FaultKind::kEnospc ? ENOSPC : 0;
  }

  int before(OperationKind kind) {
    const schema::Fault* fault = hit(kind);
    return fault == nullptr ? 0 : suffer(*fault);
  }

  /// A bit that is wrong while a write is under way, or after a read.
  struct Flipped {
    std::byte* byte = nullptr;

    void flip() const noexcept { *byte ^= std::byte{0x10}; }
    /// The request ended: memory that was written is as it was, what was read is not.
    void end() noexcept {
      if (byte != nullptr) flip();
      byte = nullptr;
    }
  };

  /// What the next fault does to one request.
  class Suffering {
   public:
    Suffering(Faulty& faulty, schema::Direction direction, const Request& request)
        : request_(request) {
      const bool writes = direction == schema::Direction::kWrite;
      const schema::Fault* fault =
          faulty.hit(writes ? OperationKind::kWrite : OperationKind::kRead);
      if (fault == nullptr) return;
      error_ = faulty.suffer(*fault);
      if (error_ != 0) return;
      if (fault->kind == FaultKind::kShort) request_.bytes /= 2;
      is_dropped_ = writes && fault->kind == FaultKind::kDrop;
      if (fault->kind != FaultKind::kFlip || request.bytes == 0) return;
      flipped_.byte = &request.data[request.bytes / 2];
      if (writes) flipped_.flip();
    }
    [[nodiscard]] int error() const noexcept { return error_; }
    [[nodiscard]] const Request& request() const noexcept { return request_; }
    [[nodiscard]] Flipped& flipped() noexcept { return flipped_; }
    /// The storage says that it was done, and does nothing.
    [[nodiscard]] bool is_dropped() const noexcept { return is_dropped_; }

   private:
    Request request_;
    Flipped flipped_;
    int error_ = 0;
    bool is_dropped_ = false;
  };

  Completion one(Handle file, schema::Direction direction, const Request& request) {
    Suffering suffering(*this, direction, request);
    if (suffering.error() != 0) return {clock_->now_ns(), 0, suffering.error()};
    if (suffering.is_dropped()) return {clock_->now_ns(), request.bytes, 0};
    Completion completion;
    inner_->submit(file, direction, {&suffering.request(), 1}, {&completion, 1});
    suffering.flipped().end();
    return completion;
  }

  std::unique_ptr<Backend> inner_;
  base::Clock* clock_;
  std::function<void()> poll_;
  comm::Group* sharers_;
  std::vector<Armed> armed_;
  /// By tag.
  std::vector<Flipped> flipped_;
  std::vector<Done> failed_;
};

}  // namespace

std::unique_ptr<Backend> make_faulty(std::unique_ptr<Backend> inner, const Environment& environment,
                                     const std::vector<schema::Fault>& faults) {
  return std::make_unique<Faulty>(std::move(inner), environment, faults);
}

}  // namespace venturi::backend

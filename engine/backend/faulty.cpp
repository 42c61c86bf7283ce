// Makes any storage fail on purpose: the n-th operation of a kind gives an error, is short, waits,
// loses a bit, or never ends.
#include <sys/types.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "backend/table.hpp"

namespace venturi::backend {
namespace {

using schema::FaultKind;
using schema::OperationKind;

class Faulty : public Backend {
 public:
  Faulty(std::unique_ptr<Backend> inner, const Environment& environment,
         const std::vector<schema::Fault>& faults)
      : inner_(std::move(inner)), clock_(environment.clock), poll_(environment.poll) {
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
  int stat(Directory at, const char* name, Identity& out) override {
    const int error = before(OperationKind::kStat);
    return error != 0 ? error : inner_->stat(at, name, out);
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

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i] = one(file, direction, requests[i]);
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
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

  Completion one(Handle file, schema::Direction direction, Request request) {
    const bool writes = direction == schema::Direction::kWrite;
    const schema::Fault* fault = hit(writes ? OperationKind::kWrite : OperationKind::kRead);
    const int error = fault == nullptr ? 0 : suffer(*fault);
    if (error != 0) return {clock_->now_ns(), 0, error};
    const bool shortens = fault != nullptr && fault->kind == FaultKind::kShort;
    const bool flips = fault != nullptr && fault->kind == FaultKind::kFlip && request.bytes > 0;
    if (shortens) request.bytes /= 2;
    std::byte& victim = request.data[request.bytes / 2];
    if (flips && writes) victim ^= std::byte{0x10};
    Completion completion;
    inner_->submit(file, direction, {&request, 1}, {&completion, 1});
    if (flips) victim ^= std::byte{0x10};
    return completion;
  }

  std::unique_ptr<Backend> inner_;
  base::Clock* clock_;
  std::function<void()> poll_;
  std::vector<Armed> armed_;
};

}  // namespace

std::unique_ptr<Backend> make_faulty(std::unique_ptr<Backend> inner, const Environment& environment,
                                     const std::vector<schema::Fault>& faults) {
  return std::make_unique<Faulty>(std::move(inner), environment, faults);
}

}  // namespace venturi::backend

// The hot path: batches of requests, one clock reading each, no allocation inside.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "base/random.hpp"
#include "execute/step.hpp"
#include "pattern/access.hpp"

namespace venturi::execute {
namespace {

using backend::Completion;
using backend::Request;
using schema::OperationKind;

constexpr std::size_t kMostBatch = 64;
/// A batch that took longer than this is halved, so that signals and limits are seen in time.
constexpr std::uint64_t kLongBatchNs = 1'000'000;
constexpr std::uint64_t kShortBatchNs = 250'000;

/// One `transfer` step on one open file.
class Pump {
 public:
  Pump(Context& context, const schema::Transfer& step, OpenFile& open, std::uint64_t size_bytes)
      : context_(context),
        step_(step),
        file_(context.files[static_cast<std::size_t>(step.file)]),
        open_(open),
        size_bytes_(size_bytes),
        writes_(step.operation == schema::Direction::kWrite),
        kind_(writes_ ? OperationKind::kWrite : OperationKind::kRead),
        verify_(file_.plan->content.verify),
        stamp_(context.stamp(*file_.plan, base::key_of(open.path), open.generation)) {
    one_by_one_ = verify_ || step.think_s > 0.0 || step.sync != schema::SyncMode::kNone ||
                  context.clock.is_simulated();
    data_ = writes_ ? context.filler(*file_.plan, size_bytes)
                    : context.read_buffer.reserve(size_bytes + 1);
  }

  /// Does the cursor's requests; returns how many ended well.
  template <class Cursor>
  std::uint64_t run(Cursor& cursor) {
    std::uint64_t done = 0;
    while (cursor.left() > 0 && !context_.idle()) {
      std::uint64_t wanted = std::min<std::uint64_t>(one_by_one_ ? 1 : batch_, cursor.left());
      if (context_.limiter) {
        wanted = std::min(wanted, context_.limiter->allowance(context_.meter().operations()));
      }
      const auto count = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
      for (std::size_t i = 0; i < count; ++i) {
        requests_[i] = {cursor.next(), size_bytes_, data_};
      }
      if (one_by_one_) prepare(requests_[0]);
      const std::size_t good = run_batch({requests_.data(), count});
      if (one_by_one_) conclude(requests_[0], good);
      done += good;
      context_.after_operations(last_ns_, good * size_bytes_, good);
    }
    context_.meter().count_size(kind_, size_bytes_, done);
    return done;
  }

 private:
  void prepare(const Request& request) {
    if (step_.think_s > 0.0) think();
    if (!verify_) return;
    const std::span<std::byte> data(request.data, request.bytes);
    if (writes_) {
      stamp_.fill(data, request.offset);
    } else {
      payload::poison(data);
    }
  }

  void think() {
    const std::uint64_t begin = context_.clock.now_ns();
    context_.pause(step_.think_s);
    context_.meter().add_compute(context_.clock.now_ns() - begin);
  }

  /// Does the requests; returns how many ended well.
  std::size_t run_batch(std::span<const Request> requests) {
    const std::uint64_t begin = context_.clock.now_ns();
    last_ns_ = begin;
    measure::Meter& meter = context_.meter();
    std::size_t at = 0;
    while (at < requests.size()) {
      const std::size_t ended =
          file_.storage->submit(open_.handle, step_.operation, requests.subspan(at), completions_);
      for (std::size_t i = 0; i < ended; ++i) {
        const Completion& completion = completions_[i];
        if (completion.bytes != requests[at + i].bytes &&
            !finish_short(requests[at + i], completion)) {
          return at + i;
        }
        const std::uint64_t end = std::max(last_ns_, completion.end_ns);
        meter.record(kind_, last_ns_, short_end_ns_ > end ? short_end_ns_ : end, size_bytes_);
        last_ns_ = std::max(short_end_ns_, end);
      }
      at += ended;
    }
    adapt(last_ns_ - begin);
    return at;
  }

  void adapt(std::uint64_t took_ns) noexcept {
    if (took_ns > kLongBatchNs) {
      batch_ = std::max<std::size_t>(1, batch_ / 2);
    } else if (took_ns < kShortBatchNs) {
      batch_ = std::min(kMostBatch, batch_ * 2);
    }
  }

  /// Goes on with the rest of a transfer that was short; false if it cannot be completed.
  bool finish_short(const Request& request, Completion completion) {
    std::uint64_t moved = completion.bytes;
    while (completion.error == 0 && completion.bytes > 0 && moved < request.bytes) {
      context_.meter().count_short();
      const Request rest{request.offset + moved, request.bytes - moved, request.data + moved};
      file_.storage->submit(open_.handle, step_.operation, {&rest, 1}, {&completion, 1});
      moved += completion.bytes;
    }
    if (moved == request.bytes) {
      short_end_ns_ = completion.end_ns;
      return true;
    }
    const char* nothing = writes_ ? "nothing more was written" : "the file ends here";
    context_.fail_operation({.kind = kind_,
                             .path = open_.path,
                             .offset = request.offset + moved,
                             .error = completion.error,
                             .what = completion.error != 0 ? "" : nothing},
                            file_.storage->hint(completion.error));
    return false;
  }

  void conclude(const Request& request, std::size_t good) {
    if (good == 0) return;
    const std::span<const std::byte> data(request.data, request.bytes);
    if (verify_ && !writes_ && !stamp_.matches(data, request.offset) &&
        file_.storage->knows(open_.handle, request)) {
      context_.fail_verification({.kind = kind_,
                                  .path = open_.path,
                                  .offset = request.offset,
                                  .what = stamp_.explain(data, request.offset)});
    }
    if (writes_) context_.note_write(file_, &open_);
    if (step_.sync != schema::SyncMode::kNone) sync();
  }

  void sync() {
    const std::uint64_t begin = context_.clock.now_ns();
    const int error = file_.storage->sync(open_.handle, step_.sync);
    last_ns_ = context_.clock.now_ns();
    if (error != 0) {
      context_.fail_operation({.kind = OperationKind::kSync, .path = open_.path, .error = error},
                              file_.storage->hint(error));
      return;
    }
    context_.meter().record(OperationKind::kSync, begin, last_ns_, 0);
    context_.note_sync(&open_, step_.sync);
    context_.count(0, 1);
  }

  Context& context_;
  const schema::Transfer& step_;
  FileState& file_;
  OpenFile& open_;
  std::uint64_t size_bytes_;
  bool writes_;
  OperationKind kind_;
  bool verify_;
  bool one_by_one_ = false;
  payload::Stamp stamp_;
  std::byte* data_ = nullptr;
  std::size_t batch_ = 1;
  std::uint64_t last_ns_ = 0;
  std::uint64_t short_end_ns_ = 0;
  std::array<Request, kMostBatch> requests_;
  std::array<Completion, kMostBatch> completions_;
};

/// Reads no more than a phase with a limit wrote.
void keep_within(pattern::Cursor& cursor, const FileState& file, std::uint64_t owner,
                 std::uint64_t size_bytes) {
  if (!file.reach.is_cut() || size_bytes == 0) return;
  if (std::holds_alternative<pattern::RandomCursor>(cursor) &&
      file.plan->sharing != schema::Sharing::kRank) {
    throw base::plan_error(file.plan->name,
                           "random reads of a shared file that a limit cut short; write it in a "
                           "phase without a limit");
  }
  const std::uint64_t requests = file.reach.of(owner) / size_bytes;
  std::visit([&](auto& any) { any.keep_within(requests); }, cursor);
}

}  // namespace

void run_transfer(Context& context, const schema::Transfer& step) {
  if (context.idle()) return;
  const std::uint64_t owner = context.owner_of(step.owner);
  const ActAs acting(context, owner);
  FileState& file = context.files[static_cast<std::size_t>(step.file)];
  const std::uint64_t size = context.evaluator.count(step.size, context.slots, "size");
  OpenFile* open = file.find(context.path_of(*file.plan));
  if (open == nullptr) {
    throw base::plan_error(file.plan->name, "a transfer to a file that is not open");
  }
  const std::uint64_t key =
      base::combine(base::combine(static_cast<std::uint64_t>(context.plan.seed),
                                  static_cast<std::uint64_t>(step.file)),
                    context.repetition);
  pattern::Cursor cursor = pattern::make_cursor(step.pattern, context.slots, size, key);
  Pump pump(context, step, *open, size);
  const bool reads = step.operation == schema::Direction::kRead;
  if (reads) {
    keep_within(cursor, file, owner, size);
    context.note_read(file, owner);
  }
  const std::uint64_t done = std::visit([&](auto& any) { return pump.run(any); }, cursor);
  if (reads) return;
  if (context.limiter && std::holds_alternative<pattern::NestCursor>(cursor)) {
    file.reach.note(owner, context.group.size(), done * size);
  }
  if (step.sync == schema::SyncMode::kNone) context.note_write(file, open);
}

void run_sync(Context& context, const schema::Sync& step) {
  if (context.failed()) return;
  FileState& file = context.files[static_cast<std::size_t>(step.file)];
  for (OpenFile& open : file.open) {
    const std::uint64_t begin = context.clock.now_ns();
    const int error = file.storage->sync(open.handle, step.mode);
    const std::uint64_t end = context.clock.now_ns();
    if (error != 0) {
      context.fail_operation({.kind = OperationKind::kSync, .path = open.path, .error = error},
                             file.storage->hint(error));
      return;
    }
    context.meter().record(OperationKind::kSync, begin, end, 0);
    context.note_sync(&open, step.mode);
    context.after_operations(end, 0, 1);
  }
}

}  // namespace venturi::execute

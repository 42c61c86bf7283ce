// The hot path: batches of requests, one clock reading each, no allocation inside.
#include <algorithm>
#include <span>
#include <type_traits>
#include <variant>

#include "execute/batch.hpp"
#include "execute/moving.hpp"
#include "execute/size_count.hpp"

namespace venturi::execute {
namespace {

using backend::Request;

/// A batch that took longer than this is halved, so that signals and limits are seen in time.
constexpr std::uint64_t kLongBatchNs = 1'000'000;
constexpr std::uint64_t kShortBatchNs = 250'000;

/// One request after the other, all in the direction of the step.
class Pump {
 public:
  explicit Pump(Moving& moving)
      : moving_(moving),
        context_(moving.context),
        sizes_(moving.context.meter(), moving.kind),
        most_(moving.fills() ? moving.most_prepared() : Batch::kMost),
        prepares_(moving.prepares()),
        batch_(context_),
        requests_(context_.requests) {}

  /// Does the cursor's requests; returns how many ended well.
  template <class Cursor>
  std::uint64_t run(Cursor& cursor) {
    const bool one_by_one = moving_.one_by_one();
    std::uint64_t done = 0;
    while (cursor.left() > 0 && !context_.idle()) {
      const std::size_t count = fill(cursor, one_by_one ? 1 : std::min(size_, most_));
      if (prepares_) prepare(count);
      const std::uint64_t begin = context_.clock.now_ns();
      const std::size_t good = run_batch({requests_.data(), count}, begin);
      std::uint64_t end = batch_.last_ns();
      adapt(end - std::min(begin, end));
      if (one_by_one && good > 0 && !batch_.was_cut()) end = moving_.conclude(requests_[0], end);
      done += good;
      context_.after_operations(end, bytes_of<Cursor::kUniform>(good), good);
    }
    if constexpr (Cursor::kUniform) {
      context_.meter().count_size(moving_.kind, moving_.size_bytes, done);
    }
    return done;
  }

 private:
  /// The next requests, at most `most` of them.
  template <class Cursor>
  std::size_t fill(Cursor& cursor, std::size_t most) {
    std::uint64_t wanted = most;
    if (context_.limiter) {
      wanted = std::min(wanted, context_.limiter->allowance(context_.meter().operations()));
    }
    const auto limit =
        static_cast<std::size_t>(std::max<std::uint64_t>(std::min(wanted, cursor.left()), 1));
    std::size_t count = 0;
    if constexpr (std::is_same_v<Cursor, pattern::NestCursor>) {
      if (!moving_.keeps_memory()) alike_ = 0;
      for (; alike_ < limit; ++alike_) {
        requests_[alike_] = {0, cursor.size_bytes(), moving_.data_of(alike_, cursor.size_bytes()),
                             nullptr};
      }
      cursor.next(limit, [&](std::uint64_t offset) { requests_[count++].offset = offset; });
      return count;
    }
    // A cursor of different sizes may end before the last request it had left.
    while (count < limit && (Cursor::kUniform || cursor.left() > 0)) {
      const pattern::Piece piece = cursor.take();
      requests_[count] = {piece.offset, piece.bytes, moving_.data_of(count, piece.bytes),
                          piece.box};
      ++count;
    }
    return count;
  }

  void prepare(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) moving_.prepare(requests_[i]);
  }

  std::size_t run_batch(std::span<const Request> requests, std::uint64_t begin_ns) {
    measure::Meter::Series series(context_.meter(), moving_.kind, begin_ns);
    return batch_.run(moving_, requests, begin_ns,
                      [&](std::uint64_t end_ns, std::uint64_t offset, std::uint64_t bytes) {
                        series.add(end_ns, offset, bytes);
                      });
  }

  /// Bytes of the first `good` requests; where sizes differ, these are counted, too.
  template <bool kUniform>
  std::uint64_t bytes_of(std::size_t good) {
    if constexpr (kUniform) return good * moving_.size_bytes;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < good; ++i) {
      sum += requests_[i].bytes;
      sizes_.add(requests_[i].bytes);
    }
    return sum;
  }

  void adapt(std::uint64_t took_ns) noexcept {
    if (took_ns > kLongBatchNs) {
      size_ = std::max<std::size_t>(1, size_ / 2);
    } else if (took_ns < kShortBatchNs) {
      size_ = std::min(Batch::kMost, size_ * 2);
    }
  }

  Moving& moving_;
  Context& context_;
  SizeRun sizes_;
  std::size_t size_ = 1;
  const std::size_t most_;
  const bool prepares_;
  Batch batch_;
  std::span<Request, Batch::kMost> requests_;
  /// So many of them have the size and the memory that all of a regular access have.
  std::size_t alike_ = 0;
};

}  // namespace

std::uint64_t move_in_order(Moving& moving, pattern::Cursor& cursor) {
  Pump pump(moving);
  return std::visit([&](auto& any) { return pump.run(any); }, cursor);
}

std::uint64_t move_in_order(Moving& moving, pattern::RowCursor& cursor) {
  return Pump(moving).run(cursor);
}

}  // namespace venturi::execute

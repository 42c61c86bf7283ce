// Several requests of a rank at a time: whatever slot is free takes the next request.
#include <algorithm>
#include <variant>
#include <vector>

#include "execute/moving.hpp"
#include "execute/size_count.hpp"

namespace venturi::execute {
namespace {

using backend::Completion;
using backend::Done;
using backend::Request;

/// At most `depth` requests in flight. All memory is taken before the first.
class Flight {
 public:
  Flight(Moving& moving, std::size_t depth)
      : moving_(moving),
        context_(moving.context),
        storage_(*moving.file.storage),
        slots_(depth),
        sizes_(moving.context.meter(), moving.kind) {
    moving_.arrange(depth);
    free_.reserve(depth);
    for (std::size_t slot = depth; slot > 0; --slot) {
      free_.push_back(static_cast<std::uint32_t>(slot - 1));
    }
    done_.resize(depth);
  }

  /// Does the cursor's requests; returns how many ended well.
  template <class Cursor>
  std::uint64_t run(Cursor& cursor) {
    while (true) {
      if (!is_due()) refill(cursor);
      if (in_flight() > 0) {
        await();
      } else if (cursor.left() == 0 || context_.idle()) {
        break;
      } else {
        // Others wait for this rank's count, so nothing may be in flight here.
        context_.check_limit(context_.clock.now_ns());
      }
    }
    return good_;
  }

 private:
  struct Slot {
    Request request;
    std::uint64_t begin_ns = 0;
    std::uint64_t moved = 0;
  };

  [[nodiscard]] std::size_t in_flight() const noexcept { return slots_.size() - free_.size(); }

  [[nodiscard]] bool is_due() const noexcept {
    return context_.limiter && context_.limiter->due(busy_ns_);
  }

  /// How many more requests may begin.
  [[nodiscard]] std::uint64_t room(std::uint64_t left) const {
    if (context_.idle()) return 0;
    std::uint64_t most = std::min<std::uint64_t>(free_.size(), left);
    if (context_.limiter) {
      const std::uint64_t allowed = context_.limiter->allowance(context_.meter().operations());
      most = std::min(most, allowed > in_flight() ? allowed - in_flight() : 0);
    }
    return most;
  }

  template <class Cursor>
  void refill(Cursor& cursor) {
    std::uint64_t now = context_.clock.now_ns();
    for (std::uint64_t left = room(cursor.left());
         left > 0 && cursor.left() > 0 && !context_.idle(); --left) {
      const std::uint32_t tag = free_.back();
      free_.pop_back();
      Slot& slot = slots_[tag];
      const pattern::Piece piece = cursor.take();
      slot.request = {piece.offset, piece.bytes, moving_.data(tag), piece.box};
      slot.moved = 0;
      if (moving_.one_by_one()) {
        moving_.prepare(slot.request);
        now = context_.clock.now_ns();
      }
      slot.begin_ns = now;
      if (in_flight() == 1) busy_ns_ = now;
      begin(tag);
    }
  }

  /// Begins what is left of a slot's request.
  void begin(std::uint32_t tag) {
    const Slot& slot = slots_[tag];
    Request rest = slot.request;
    rest.offset += slot.moved;
    rest.bytes -= slot.moved;
    rest.data += slot.moved;
    const int error = storage_.begin(moving_.open.handle, moving_.direction, rest, tag);
    if (error != 0) end(tag, {context_.clock.now_ns(), 0, error});
  }

  void await() {
    const std::size_t count = storage_.reap(done_);
    if (count == 0) {
      context_.tick_in_flight(base::monotonic_ns());
      return;
    }
    const std::uint64_t before = good_;
    const std::uint64_t before_bytes = good_bytes_;
    for (std::size_t i = 0; i < count; ++i) end(done_[i].tag, done_[i].completion);
    context_.count(good_bytes_ - before_bytes, good_ - before);
    context_.tick(busy_ns_);
  }

  /// A request ended, or a part of it: then its rest is begun.
  void end(std::uint32_t tag, const Completion& completion) {
    Slot& slot = slots_[tag];
    slot.moved += completion.bytes;
    if (completion.error == 0 && completion.bytes > 0 && slot.moved < slot.request.bytes) {
      context_.meter().count_short();
      return begin(tag);
    }
    free_.push_back(tag);
    const bool cut = slot.moved < slot.request.bytes &&
                     moving_.is_truncated(slot.request, slot.moved, completion.error);
    if (slot.moved < slot.request.bytes && !cut) {
      return moving_.fail(slot.request, slot.moved, completion.error);
    }
    const std::uint64_t end_ns = std::max(busy_ns_, completion.end_ns);
    context_.meter().place(slot.request.offset);
    context_.meter().record_since(slot.begin_ns, moving_.kind, busy_ns_, end_ns,
                                  slot.request.bytes);
    busy_ns_ = end_ns;
    ++good_;
    good_bytes_ += slot.request.bytes;
    sizes_.add(slot.request.bytes);
    if (moving_.one_by_one() && !cut) moving_.conclude(slot.request, end_ns);
  }

  Moving& moving_;
  Context& context_;
  backend::Backend& storage_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<Done> done_;
  SizeRun sizes_;
  std::uint64_t good_ = 0;
  std::uint64_t good_bytes_ = 0;
  /// Something was in flight since then, and the time before is counted.
  std::uint64_t busy_ns_ = 0;
};

}  // namespace

std::uint64_t move_in_flight(Moving& moving, pattern::Cursor& cursor) {
  return std::visit(
      [&](auto& any) {
        const auto most = static_cast<std::uint64_t>(moving.step.depth);
        const std::uint64_t depth = std::clamp<std::uint64_t>(any.left(), 1, most);
        return Flight(moving, static_cast<std::size_t>(depth)).run(any);
      },
      cursor);
}

}  // namespace venturi::execute

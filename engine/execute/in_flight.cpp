// Several requests of a rank at a time: whatever slot is free takes the next request, as soon as
// its time has come if they follow a rate.
#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

#include "execute/direction.hpp"
#include "execute/moving.hpp"
#include "execute/schedule.hpp"

namespace venturi::execute {
namespace {

using backend::Completion;
using backend::Done;
using backend::Request;

/// At most `depth` requests in flight. All memory is taken before the first.
class Flight {
 public:
  Flight(Moving& own, Moving& turned, Schedule* schedule, std::size_t depth)
      : context_(own.context),
        storage_(*own.file.storage),
        own_(own),
        turned_(turned),
        schedule_(schedule),
        slots_(depth) {
    if (own.step.reads > 0.0) turned.arrange(depth);
    own.arrange(depth);
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
        await(until(cursor.left()));
      } else if (cursor.left() == 0 || context_.idle()) {
        break;
      } else {
        // Others wait for this rank's count, so nothing may be in flight here.
        context_.check_limit(context_.clock.now_ns());
        if (schedule_ != nullptr && !context_.idle()) schedule_->wait();
      }
    }
    return good_;
  }

 private:
  struct Slot {
    Request request;
    DirectionState* direction = nullptr;
    /// From when its latency counts, and when it began.
    std::uint64_t since_ns = 0;
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
      if (schedule_ != nullptr) {
        now = context_.clock.now_ns();
        if (now < schedule_->next_ns()) break;
      }
      const std::uint32_t tag = free_.back();
      free_.pop_back();
      Slot& slot = slots_[tag];
      const pattern::Piece piece = cursor.take();
      slot.direction = piece.turned ? &turned_ : &own_;
      Moving& moving = slot.direction->moving;
      slot.request = {piece.offset, piece.bytes, moving.data(tag, piece.bytes), piece.box};
      slot.moved = 0;
      if (moving.prepares()) {
        moving.prepare(slot.request);
        now = context_.clock.now_ns();
      }
      slot.begin_ns = now;
      slot.since_ns = schedule_ != nullptr ? take_turn(now) : now;
      if (in_flight() == 1) busy_ns_ = now;
      begin(tag);
    }
  }

  /// The next intended start is now, or was when no slot was free.
  std::uint64_t take_turn(std::uint64_t now) noexcept {
    const std::uint64_t intended = schedule_->next_ns();
    schedule_->start(intended < full_until_ns_ ? now - intended : 0);
    return intended;
  }

  /// Begins what is left of a slot's request.
  void begin(std::uint32_t tag) {
    const Slot& slot = slots_[tag];
    Request rest = slot.request;
    rest.offset += slot.moved;
    rest.bytes -= slot.moved;
    rest.data += slot.moved;
    const Moving& moving = slot.direction->moving;
    const int error = storage_.begin(moving.open.handle, moving.direction, rest, tag);
    if (error != 0) end(tag, {context_.clock.now_ns(), 0, error});
  }

  void await(std::uint64_t until_ns) {
    const std::size_t count = storage_.reap(done_, until_ns);
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

  /// When something else is to be done than to wait for an end.
  [[nodiscard]] std::uint64_t until(std::uint64_t left) const {
    const bool starts = schedule_ != nullptr && room(left) > 0 && !is_due();
    if (!starts) return std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t next = schedule_->next_ns();
    return context_.clock.is_simulated() ? next : next - std::min(next, Schedule::kAwakeNs);
  }

  /// A request ended, or a part of it: then its rest is begun.
  void end(std::uint32_t tag, const Completion& completion) {
    Slot& slot = slots_[tag];
    slot.moved += completion.bytes;
    if (completion.error == 0 && completion.bytes > 0 && slot.moved < slot.request.bytes) {
      context_.meter().count_short();
      return begin(tag);
    }
    if (free_.empty()) full_until_ns_ = completion.end_ns;
    free_.push_back(tag);
    Moving& moving = slot.direction->moving;
    const bool cut = slot.moved < slot.request.bytes &&
                     moving.is_truncated(slot.request, slot.moved, completion.error);
    if (slot.moved < slot.request.bytes && !cut) {
      return moving.fail(slot.request, slot.moved, completion.error);
    }
    const std::uint64_t end_ns = std::max(busy_ns_, completion.end_ns);
    measure::Meter& meter = context_.meter();
    meter.place(slot.request.offset);
    meter.record_since(slot.since_ns, moving.kind, busy_ns_, end_ns, slot.request.bytes);
    if (schedule_ != nullptr) {
      meter.record_start(slot.since_ns, slot.begin_ns, end_ns);
      schedule_->ended(end_ns);
    }
    busy_ns_ = end_ns;
    ++good_;
    good_bytes_ += slot.request.bytes;
    slot.direction->sizes.add(slot.request.bytes);
    if (moving.one_by_one() && !cut) moving.conclude(slot.request, end_ns);
  }

  Context& context_;
  backend::Backend& storage_;
  DirectionState own_;
  DirectionState turned_;
  Schedule* schedule_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<Done> done_;
  std::uint64_t good_ = 0;
  std::uint64_t good_bytes_ = 0;
  /// Something was in flight since then, and the time before is counted.
  std::uint64_t busy_ns_ = 0;
  /// No slot was free till then.
  std::uint64_t full_until_ns_ = 0;
};

}  // namespace

std::uint64_t move_in_flight(Moving& own, Moving& turned, pattern::Cursor& cursor,
                             Schedule* schedule) {
  return std::visit(
      [&](auto& any) {
        const auto most = static_cast<std::uint64_t>(own.step.depth);
        const std::uint64_t depth = std::clamp<std::uint64_t>(any.left(), 1, most);
        return Flight(own, turned, schedule, static_cast<std::size_t>(depth)).run(any);
      },
      cursor);
}

}  // namespace venturi::execute

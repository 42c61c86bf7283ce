// Requests one by one, where they follow a rate or some go the other way.
#include <optional>
#include <variant>

#include "execute/batch.hpp"
#include "execute/direction.hpp"
#include "execute/moving.hpp"
#include "execute/schedule.hpp"

namespace venturi::execute {
namespace {

/// One request, then the next.
class Turns {
 public:
  Turns(Moving& own, Moving& turned, Schedule* schedule)
      : context_(own.context), own_(own), turned_(turned), schedule_(schedule), batch_(context_) {}

  /// Does the cursor's requests; returns how many ended well.
  template <class Cursor>
  std::uint64_t run(Cursor& cursor) {
    std::uint64_t done = 0;
    while (cursor.left() > 0 && !context_.idle()) {
      if (schedule_ != nullptr && !schedule_->come_to_turn(intended_ns_)) break;
      done += one(cursor.take());
    }
    return done;
  }

 private:
  std::uint64_t one(const pattern::Piece& piece) {
    DirectionState& direction = piece.turned ? turned_ : own_;
    Moving& moving = direction.moving;
    const backend::Request request{piece.offset, piece.bytes, moving.data(0, piece.bytes),
                                   piece.box};
    moving.prepare(request);
    const std::uint64_t begin = context_.clock.now_ns();
    const auto record = [&](std::uint64_t end, std::uint64_t offset, std::uint64_t bytes) {
      const std::uint64_t since = schedule_ != nullptr ? intended_ns_ : begin;
      context_.meter().place(offset);
      context_.meter().record_since(since, moving.kind, begin, end, bytes);
      if (schedule_ != nullptr) context_.meter().record_start(since, begin, end);
    };
    if (batch_.run(moving, {&request, 1}, begin, record) == 0) {
      context_.after_operations(batch_.last_ns(), 0, 0);
      return 0;
    }
    direction.sizes.add(piece.bytes);
    if (schedule_ != nullptr) schedule_->ended(batch_.last_ns());
    const std::uint64_t end =
        batch_.was_cut() ? batch_.last_ns() : moving.conclude(request, batch_.last_ns());
    context_.after_operations(end, piece.bytes, 1);
    return 1;
  }

  Context& context_;
  DirectionState own_;
  DirectionState turned_;
  Schedule* schedule_;
  std::uint64_t intended_ns_ = 0;
  Batch batch_;
};

}  // namespace

std::uint64_t move_in_turn(Moving& own, Moving& turned, pattern::Cursor& cursor,
                           Schedule* schedule) {
  Turns turns(own, turned, schedule);
  return std::visit([&](auto& any) { return turns.run(any); }, cursor);
}

}  // namespace venturi::execute

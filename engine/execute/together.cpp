// Calls that all who share a file make together: none is left alone in the library.
//
// All make equally many calls; who has nothing to move takes part with 0 bytes. Every now and then
// they agree whether somebody failed, whether the time is over, and how many calls come next.
//
// Where some read among writes, the number of the call says so, and all have equally many.
//
// Where they follow a rate, all have the same schedule and begin each call at its time. While that
// is far away they meet all the same, so that a limit need not wait for it.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <variant>

#include "execute/direction.hpp"
#include "execute/moving.hpp"
#include "execute/schedule.hpp"

namespace venturi::execute {
namespace {

using backend::Completion;
using backend::Request;

constexpr std::uint64_t kMostCalls = 4096;
/// An agreement may cost this share of the calls between two of them.
constexpr std::uint64_t kCallsPerCost = 100;
/// But what failed, and a limit, is to be seen after this time.
constexpr std::uint64_t kLongestNs = 100'000'000;
/// How long to rest between agreements while the next call is farther away than that.
constexpr double kRestS = 0.05;

/// What all sharers tell each other; of each word they learn the largest.
struct Agreement {
  std::uint64_t failed = 0;
  std::uint64_t due = 0;
  /// Requests that are still to be made.
  std::uint64_t left = 0;
  /// Calls until the next agreement; 0: there is time to rest.
  std::uint64_t calls = 1;
  /// Not stopped by a limit.
  std::uint64_t busy = 1;
  /// How many requests a rank still has to make at least, as what is left to the largest number.
  std::uint64_t fewer = 0;

  /// Whether all still have equally many requests to make.
  [[nodiscard]] bool is_even() const noexcept { return fewer == ~left; }

  void reduce(comm::Group& sharers) {
    std::array<std::uint64_t, 6> words{failed, due, left, calls, busy, fewer};
    sharers.reduce(words, comm::Reduction::kMaximum);
    failed = words[0];
    due = words[1];
    left = words[2];
    calls = words[3];
    busy = words[4];
    fewer = words[5];
  }
};

class Pump {
 public:
  Pump(Moving& own, Moving& turned, std::uint64_t arrivals_key)
      : step_(own.step),
        open_(own.open),
        context_(own.context),
        file_(own.file),
        storage_(*own.file.storage),
        own_(own),
        turned_(turned),
        arrivals_key_(arrivals_key) {}

  /// Does the cursor's requests; returns how many ended well.
  template <class Cursor>
  std::uint64_t run(Cursor& cursor) {
    find_distribution(cursor);
    for (;;) {
      const Agreement agreed = agree(wanted(cursor.left()));
      if (agreed.failed != 0) break;
      if (distribution_ != nullptr && !agreed.is_even()) {
        context_.guard([] {
          throw base::plan_error("reads",
                                 "ranks that read and write together need equally many requests");
        });
        break;
      }
      if (agreed.due != 0) {
        context_.limiter->check_together(context_.meter().operations());
        continue;
      }
      if (agreed.left == 0) break;
      if (!schedule_ && step_.rate_per_s > 0.0) {
        schedule_.emplace(context_, step_, arrivals_key_);
      }
      if (agreed.calls == 0) {
        context_.guard([&] { context_.pause(kRestS); });
        continue;
      }
      const std::uint64_t begin = context_.clock.now_ns();
      const std::uint64_t calls = std::min(agreed.calls, agreed.left);
      for (std::uint64_t i = 0; i < calls; ++i) {
        Request request;
        DirectionState& direction = next_direction();
        context_.guard([&] {
          if (wanted(cursor.left()) > 0 && come_to_turn()) {
            request = next(direction.moving, cursor.take());
          }
        });
        take_part(direction, context_.failed() ? Request{} : request);
      }
      call_ns_ = std::max<std::uint64_t>(1, (context_.clock.now_ns() - begin) / calls);
      if (calls == agreed.left) break;  // nobody has more, and each knows it
    }
    storage_.end_together(open_.handle);
    context_.check_limit(context_.clock.now_ns());
    return good_;
  }

 private:
  void find_distribution(const pattern::MixedCursor& cursor) {
    if (step_.reads > 0.0) distribution_ = &cursor.distribution();
  }
  template <class Cursor>
  void find_distribution(const Cursor&) {}

  /// The direction of the next call. All ranks know it, also those that have nothing to move.
  DirectionState& next_direction() {
    return distribution_ != nullptr && (*distribution_)(calls_++).turned ? turned_ : own_;
  }

  /// How many requests this rank still has to make.
  [[nodiscard]] std::uint64_t wanted(std::uint64_t left) const {
    if (context_.idle()) return 0;
    if (!context_.limiter) return left;
    return std::min(left, context_.limiter->allowance(context_.meter().operations()));
  }

  /// Waits for the call's intended start. False when the limit or trouble came first.
  bool come_to_turn() { return !schedule_ || schedule_->come_to_turn(intended_ns_); }

  /// So many calls may come before the next agreement.
  [[nodiscard]] std::uint64_t calls_at(std::uint64_t now_ns, std::uint64_t left) const noexcept {
    if (schedule_ && (left == 0 || schedule_->next_ns() > now_ns + kLongestNs)) return 0;
    return std::clamp<std::uint64_t>(
        std::min(kCallsPerCost * cost_ns_ / call_ns_, kLongestNs / call_ns_), 1, kMostCalls);
  }

  Agreement agree(std::uint64_t left) {
    const std::uint64_t begin = context_.clock.now_ns();
    Agreement agreement{
        .failed = static_cast<std::uint64_t>(context_.failed()),
        .due =
            static_cast<std::uint64_t>(context_.limiter && context_.limiter->due_together(begin)),
        .left = left,
        .calls = calls_at(begin, left),
        .busy = static_cast<std::uint64_t>(!context_.limiter || !context_.limiter->stopped()),
        .fewer = ~left};
    agreement.reduce(*file_.sharers);
    const std::uint64_t end = context_.clock.now_ns();
    // Mostly it is waiting for the slowest; the shortest time is what agreeing itself costs.
    cost_ns_ = std::min(cost_ns_, end - begin);
    if (agreement.busy == 0) context_.limiter->end_together();
    context_.tick(end);
    return agreement;
  }

  static Request next(Moving& moving, const pattern::Piece& piece) {
    const Request request{piece.offset, piece.bytes, moving.data(0, piece.bytes), piece.box};
    if (moving.prepares()) moving.prepare(request);
    return request;
  }

  void take_part(DirectionState& direction, const Request& request) {
    Moving& moving = direction.moving;
    const std::uint64_t begin = context_.clock.now_ns();
    Completion completion = storage_.submit_together(open_.handle, moving.direction, request);
    context_.meter().add_serving(completion.serving_ns);
    if (request.bytes == 0) return;
    const std::uint64_t moved = finish_short(moving.direction, request, completion);
    const bool cut =
        moved != request.bytes && moving.is_truncated(request, moved, completion.error);
    if (moved != request.bytes && !cut) {
      moving.fail(request, moved, completion.error);
      return context_.note_left_alone();
    }
    context_.meter().place(request.offset);
    const std::uint64_t since = schedule_ ? intended_ns_ : begin;
    context_.meter().record_since(since, moving.kind, begin, completion.end_ns, request.bytes);
    if (schedule_) {
      context_.meter().record_start(since, begin, completion.end_ns);
      schedule_->ended(completion.end_ns);
    }
    if (moving.one_by_one() && !cut) moving.conclude(request, completion.end_ns);
    ++good_;
    direction.sizes.add(request.bytes);
    context_.count(request.bytes, 1);
    context_.tick(completion.end_ns);
  }

  /// Goes on alone with the rest of a transfer that was short; returns how much was moved.
  std::uint64_t finish_short(schema::Direction direction, const Request& request,
                             Completion& completion) {
    std::uint64_t moved = completion.bytes;
    while (completion.error == 0 && completion.bytes > 0 && moved < request.bytes &&
           request.box == nullptr) {
      context_.meter().count_short();
      const Request rest{request.offset + moved, request.bytes - moved, request.data + moved};
      storage_.submit(open_.handle, direction, {&rest, 1}, {&completion, 1});
      moved += completion.bytes;
    }
    return moved;
  }

  const schema::Transfer& step_;
  OpenFile& open_;
  Context& context_;
  FileState& file_;
  backend::Backend& storage_;
  DirectionState own_;
  DirectionState turned_;
  std::uint64_t arrivals_key_;
  /// Which calls read, where some do.
  const pattern::Distribution* distribution_ = nullptr;
  std::uint64_t calls_ = 0;
  std::optional<Schedule> schedule_;
  std::uint64_t intended_ns_ = 0;
  std::uint64_t good_ = 0;
  std::uint64_t cost_ns_ = 10'000;
  std::uint64_t call_ns_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace

std::uint64_t move_together(Moving& own, Moving& turned, pattern::Cursor& cursor,
                            std::uint64_t arrivals_key) {
  return std::visit([&](auto& any) { return Pump(own, turned, arrivals_key).run(any); }, cursor);
}

void fail_together(comm::Group& sharers) { Agreement{.failed = 1}.reduce(sharers); }

}  // namespace venturi::execute

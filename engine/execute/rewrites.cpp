// Counting the places of writes again, for those who read them.
#include "execute/rewrites.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <variant>

#include "execute/context.hpp"
#include "execute/moving.hpp"

namespace venturi::execute {
namespace {

/// So many executions are looked back to; what is older may be seen anywhere.
constexpr std::size_t kMostRewrites = 64;
/// Where a step wrote more places apart, they are not kept.
constexpr std::size_t kMostExtents = std::size_t{1} << 20U;
/// As many requests are counted again, of one rank and of all who share a file.
constexpr std::uint64_t kMostOfRank = std::uint64_t{1} << 24U;
constexpr std::uint64_t kMostOfSharers = std::uint64_t{1} << 20U;
constexpr std::uint64_t kWordBytes = 8;

bool differs(const schema::Expression& code) {
  using enum schema::Slot;
  constexpr std::array<std::size_t, 4> kOwn{
      static_cast<std::size_t>(kRank), static_cast<std::size_t>(kNode),
      static_cast<std::size_t>(kNodeRank), static_cast<std::size_t>(kNodeRanks)};
  return pattern::reads_slot(code, kOwn);
}

/// An expression that is a rank's own number.
bool is_own(const schema::Expression& owner) {
  constexpr std::array<std::size_t, 1> kRank{static_cast<std::size_t>(schema::Slot::kRank)};
  return owner.size() == 1 && pattern::reads_slot(owner, kRank);
}

bool has_places(const schema::Transfer& step) {
  const auto& pattern = step.pattern.value;
  return step.reads == 0.0 && !step.literal && !std::holds_alternative<schema::Append>(pattern) &&
         !std::holds_alternative<schema::Sequential>(pattern) &&
         !std::holds_alternative<schema::Box>(pattern);
}

/// Puts places in order, and joins those that touch.
Extents joined(Extents places) {
  std::ranges::sort(places);
  Extents out;
  for (const auto& place : places) {
    if (out.empty() || place.first > out.back().second) {
      out.push_back(place);
    } else {
      out.back().second = std::max(out.back().second, place.second);
    }
  }
  return out;
}

/// Appends the places of at most `most` requests; false if that is more than `budget`, from which
/// they are taken, or more than can be kept.
bool collect(pattern::Cursor& cursor, std::uint64_t most, std::uint64_t& budget, Extents& out) {
  return std::visit(
      [&](auto& any) {
        for (std::uint64_t i = 0; i < most && any.left() > 0; ++i) {
          if (budget == 0 || out.size() == kMostExtents) return false;
          --budget;
          const pattern::Piece piece = any.take();
          const std::uint64_t end = piece.offset + piece.bytes;
          if (!out.empty() && out.back().second == piece.offset) {
            out.back().second = end;
          } else {
            out.emplace_back(piece.offset, end);
          }
        }
        return true;
      },
      cursor);
}

/// While it lives, the context is where a write was.
class Back {
 public:
  Back(Context& context, const Rewrite& to)
      : context_(context), slots_(context.slots), repetition_(context.repetition) {
    context.slots = to.slots;
    context.repetition = to.repetition;
  }
  Back(const Back&) = delete;
  Back& operator=(const Back&) = delete;
  ~Back() {
    context_.slots = slots_;
    context_.repetition = repetition_;
  }

 private:
  Context& context_;
  pattern::Slots slots_;
  std::uint64_t repetition_;
};

/// Appends what `owner` wrote; false if it is too much to be kept.
bool add_places(Context& context, FileState& file, const Rewrite& rewrite, std::uint64_t owner,
                std::uint64_t& budget, Extents& out) {
  const ActAs acting(context, owner);
  const schema::Transfer& step = *rewrite.step;
  const std::uint64_t size = context.evaluator.count(step.size, context.slots, "size");
  pattern::Cursor cursor = cursor_of(context, file, step, owner, size, 0);
  const bool is_own = file.plan->sharing == schema::Sharing::kRank && rewrite.owner == owner;
  return collect(cursor, is_own ? rewrite.done : ~std::uint64_t{0}, budget, out);
}

/// What all who share the file with `owner` wrote together; nothing where that is too much.
Extents places_of_sharers(Context& context, FileState& file, const Rewrite& rewrite,
                          std::uint64_t owner) {
  Extents out;
  std::uint64_t budget = kMostOfSharers;
  const std::uint64_t first = context.first_sharer(*file.plan, owner);
  for (std::uint64_t rank = 0; rank < context.group.size(); ++rank) {
    if (context.first_sharer(*file.plan, rank) != first) continue;
    if (!add_places(context, file, rewrite, rank, budget, out)) return {};
  }
  return out;
}

/// What was surely written, as far as a rank in the place of `owner` can count it.
const Extents& extents_of(Context& context, FileState& file, Rewrite& rewrite,
                          std::uint64_t owner) {
  if (rewrite.asked == owner) return rewrite.extents;
  rewrite.asked = owner;
  rewrite.extents.clear();
  const bool is_own = file.plan->sharing == schema::Sharing::kRank && rewrite.owner == owner;
  if (!rewrite.is_countable || (!rewrite.is_whole && !is_own)) return rewrite.extents;
  const Back back(context, rewrite);
  Extents places;
  if (file.plan->sharing != schema::Sharing::kRank) {
    places = places_of_sharers(context, file, rewrite, owner);
  }
  std::uint64_t budget = kMostOfRank;
  if (places.empty() && !add_places(context, file, rewrite, owner, budget, places)) places.clear();
  rewrite.extents = joined(std::move(places));
  return rewrite.extents;
}

bool holds(const Extents& extents, std::uint64_t offset, std::uint64_t bytes) {
  const auto behind = std::ranges::upper_bound(extents, offset, {}, &Extents::value_type::first);
  return behind != extents.begin() && std::prev(behind)->second >= offset + bytes;
}

}  // namespace

void History::note_number(std::uint64_t number) {
  if (numbers.back() == number) return;
  if (numbers.size() > kMostRewrites) numbers.erase(numbers.begin());
  numbers.push_back(number);
}

WriteCounter::WriteCounter(const std::vector<schema::Step>& program) {
  look(program, true);
  std::ranges::sort(even_);
}

bool WriteCounter::is_even(const void* step) const {
  return std::ranges::binary_search(even_, step);
}

void WriteCounter::look(const std::vector<schema::Step>& steps, bool even) {
  for (const schema::Step& step : steps) {
    std::visit(
        [&](const auto& one) {
          using Kind = std::decay_t<decltype(one)>;
          if constexpr (std::is_same_v<Kind, schema::For>) {
            look(one.body, even && !differs(one.count));
          } else if constexpr (std::is_same_v<Kind, schema::Choose>) {
            look(one.body, even && !differs(one.number));
          } else if constexpr (std::is_same_v<Kind, schema::When>) {
            look(one.body, even && !differs(one.condition));
          } else if constexpr (std::is_same_v<Kind, schema::Repeat>) {
            look(one.body, false);
          } else if constexpr (std::is_same_v<Kind, schema::Phase>) {
            look(one.body, even && !one.limit_s);
          } else if (even) {
            even_.push_back(&one);
          }
        },
        step.value);
  }
}

Rewrite& note_rewrite(Context& context, const FileState& file, History& history,
                      const schema::Transfer& step, std::uint64_t size_bytes) {
  constexpr auto kRankSlot = static_cast<std::size_t>(schema::Slot::kRank);
  const bool is_even = context.writes.is_even(&step);
  history.note_number(context.writes.number());
  const bool by_words = size_bytes % kWordBytes == 0;
  history.split_words |= !by_words || !has_places(step);
  if (history.rewrites.size() == kMostRewrites) history.rewrites.pop_front();
  return history.rewrites.emplace_back(
      Rewrite{.number = context.writes.number(),
              .phase_first = context.writes.phase_first(),
              .step = &step,
              .slots = context.slots,
              .repetition = context.repetition,
              .owner = static_cast<std::uint64_t>(context.slots[kRankSlot].integer()),
              .meetings = context.writes.meetings(),
              .is_countable =
                  has_places(step) && !context.goes_on_after_errors() && !file.is_used_by_groups,
              .is_whole = is_even && !context.limiter && is_own(step.owner)});
}

std::optional<std::uint64_t> first_write(Context& context, FileState& file, History& history,
                                         std::uint64_t owner, std::uint64_t offset,
                                         std::uint64_t bytes) {
  const std::uint64_t own = context.group.rank();
  const bool is_private = file.plan->sharing == schema::Sharing::kRank && owner == own;
  for (auto rewrite = history.rewrites.rbegin(); rewrite != history.rewrites.rend(); ++rewrite) {
    // Another rank may not have come there yet.
    if (owner != own && rewrite->meetings == context.writes.meetings()) continue;
    if (!holds(extents_of(context, file, *rewrite, owner), offset, bytes)) continue;
    // Of ranks that write into one file each may be at another write of the phase.
    return is_private && rewrite->owner == own ? rewrite->number : rewrite->phase_first;
  }
  return std::nullopt;
}

}  // namespace venturi::execute

// Which steps are requests and nothing else, and which rows of a table are alike.
#include "execute/row_run.hpp"

#include <algorithm>
#include <variant>

#include "execute/program.hpp"
#include "execute/step.hpp"

namespace venturi::execute {
namespace {

/// To look for more than these takes long enough to be seen between two requests.
constexpr std::uint64_t kMostRows = 1024;

/// The column that an expression is; null if it is more than one, or none.
const pattern::RowNumbers* column_of(const schema::Expression& code,
                                     const pattern::TurnColumns& columns) {
  const bool is_variable =
      code.size() == 1 && code.front().operator_ == schema::Operator::kVariable;
  return is_variable ? columns.find(static_cast<std::size_t>(code.front().integer)) : nullptr;
}

/// Whether a step is requests in order, with nothing beside them that counts them one by one.
bool is_plain(const schema::Plan& plan, const schema::Transfer& step) {
  const bool is_regular = step.mix.empty() && step.reads == 0.0 && step.rate_per_s == 0.0 &&
                          step.depth == 1 && step.seeks == 0.0 && step.empty_reads == 0.0 &&
                          !step.halo && !step.literal;
  return is_regular && !is_together(plan, step) && !meets_first(plan, step) &&
         !plan.files[static_cast<std::size_t>(step.file)].content.verify;
}

bool is_one(const schema::Expression& count) {
  return count.size() == 1 && count.front().operator_ == schema::Operator::kInteger &&
         count.front().integer == 1;
}

/// Where the requests of a pattern begin, if it is one request at a column's place, or one that
/// goes on.
struct Beginning {
  bool is_known = false;
  const schema::Expression* base = nullptr;
};

Beginning beginning_of(const schema::Pattern& pattern) {
  if (const auto* nest = std::get_if<schema::Nest>(&pattern.value)) {
    const bool is_single = std::ranges::all_of(
        nest->loops, [](const schema::Loop& loop) { return is_one(loop.count); });
    return {is_single, &nest->base};
  }
  if (const auto* packed = std::get_if<schema::Packed>(&pattern.value)) {
    return {is_one(packed->count), &packed->base};
  }
  if (const auto* append = std::get_if<schema::Append>(&pattern.value)) {
    return {is_one(append->count), nullptr};
  }
  if (const auto* sequential = std::get_if<schema::Sequential>(&pattern.value)) {
    return {is_one(sequential->count), sequential->base ? &*sequential->base : nullptr};
  }
  return {};
}

}  // namespace

RowRuns::RowRuns(const schema::Plan& plan, const schema::For& loop,
                 const pattern::TurnColumns& columns)
    : plan_(plan), loop_(loop), columns_(columns) {
  if (loop.columns.empty() || loop.body.empty()) return;
  const auto is_computing = [](const schema::Step& step) {
    return std::holds_alternative<schema::Compute>(step.value);
  };
  if (!std::all_of(loop.body.begin(), loop.body.end() - 1, is_computing)) return;
  choice_ = std::get_if<schema::Choose>(&loop.body.back().value);
  if (choice_ != nullptr) ways_.resize(choice_->body.size());
}

std::optional<RowRuns::Way> RowRuns::way_of(const schema::Step& step) const {
  const auto* transfer = std::get_if<schema::Transfer>(&step.value);
  if (transfer == nullptr || !is_plain(plan_, *transfer)) return std::nullopt;
  const Beginning beginning = beginning_of(transfer->pattern);
  Way way{.step = transfer,
          .sizes = column_of(transfer->size, columns_),
          .free = {static_cast<std::size_t>(loop_.variable)}};
  if (!beginning.is_known || way.sizes == nullptr) return std::nullopt;
  way.free.push_back(way.sizes->slot());
  if (beginning.base != nullptr) {
    way.places = column_of(*beginning.base, columns_);
    if (way.places == nullptr) return std::nullopt;
    way.free.push_back(way.places->slot());
  }
  if (reads_more(way)) return std::nullopt;
  return way;
}

/// Whether anything but the requests themselves depends on what may differ from row to row.
bool RowRuns::reads_more(const Way& way) const {
  const auto reads = [&](const schema::Expression& code) {
    return pattern::reads_slot(code, way.free);
  };
  const auto is_named = [&](const schema::PathPart& part) {
    return part.value && reads(*part.value);
  };
  const auto computes = [&](const schema::Step& step) {
    const auto* compute = std::get_if<schema::Compute>(&step.value);
    return compute != nullptr && reads(compute->seconds);
  };
  const schema::File& file = plan_.files[static_cast<std::size_t>(way.step->file)];
  return reads(choice_->number) || reads(way.step->owner) ||
         std::ranges::any_of(file.path, is_named) || std::ranges::any_of(loop_.body, computes);
}

const std::optional<RowRuns::Way>& RowRuns::way_at(std::size_t number) {
  std::optional<std::optional<Way>>& known = ways_[number];
  if (!known) known = way_of(choice_->body[number]);
  return *known;
}

std::uint64_t RowRuns::run(Context& context, std::uint64_t row, std::uint64_t end) {
  if (choice_ == nullptr || context.limiter || context.goes_on_after_errors()) return 0;
  const std::uint64_t number =
      context.evaluator.count(choice_->number, context.slots, "choose.number");
  if (number >= ways_.size()) return 0;
  const std::optional<Way>& way = way_at(number);
  if (!way || context.files[static_cast<std::size_t>(way->step->file)].reach.is_cut()) return 0;
  const std::uint64_t most = std::min(end - row, kMostRows);
  const std::uint64_t alike = columns_.alike(row, most, way->free);
  if (alike < 2) return 0;
  for (const schema::Step& step : loop_.body) {
    const auto* compute = std::get_if<schema::Compute>(&step.value);
    if (compute != nullptr &&
        context.evaluator.seconds(compute->seconds, context.slots, "compute.seconds") > 0.0) {
      return 0;
    }
  }
  pattern::RowCursor::Rows rows{
      .first = row, .count = 0, .sizes = way->sizes, .places = way->places};
  std::int64_t largest = 0;
  for (; rows.count < alike; ++rows.count) {
    const std::int64_t bytes = way->sizes->at(row + rows.count);
    const std::int64_t place = way->places == nullptr ? 0 : way->places->at(row + rows.count);
    std::int64_t behind = 0;
    if (bytes < 1 || place < 0 || __builtin_add_overflow(place, bytes, &behind)) break;
    largest = std::max(largest, bytes);
  }
  if (rows.count < 2) return 0;
  run_rows(context, *way->step, rows, static_cast<std::uint64_t>(largest));
  return rows.count;
}

}  // namespace venturi::execute

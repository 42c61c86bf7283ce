// Judging loops: which variables they have, and whether their tables are as long.
#include "execute/loop_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "pattern/turn_columns.hpp"

namespace venturi::execute {

using base::plan_error;

namespace {

bool is_loop_variable(std::int64_t slot, const schema::Plan& plan) {
  const auto first = static_cast<std::int64_t>(schema::kSlotWords.size());
  return slot >= first && static_cast<std::size_t>(slot) < plan.slots.size();
}

void check_rows(const std::vector<schema::TurnColumn>& columns, std::int64_t rows,
                const schema::Plan& plan, const std::string& where) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (is_loop_variable(columns[i].variable, plan)) continue;
    throw plan_error(fmt::format("{}.columns[{}].variable", where, i),
                     "is not the slot of a loop variable");
  }
  pattern::TurnColumns(columns, static_cast<std::uint64_t>(std::max<std::int64_t>(rows, 0)), where);
}

}  // namespace

void check_columns(const schema::For& loop, const schema::Plan& plan, const std::string& where) {
  check_rows(loop.columns, loop.rows, plan, where);
}

void check_staged_loops(const schema::File& file, const schema::Plan& plan,
                        const std::string& where) {
  for (std::size_t i = 0; i < file.staged_loops.size(); ++i) {
    const schema::StagedLoop& loop = file.staged_loops[i];
    const std::string place = fmt::format("{}.staged_loops[{}]", where, i);
    check_rows(loop.columns, loop.count, plan, place);
    if (is_loop_variable(loop.variable, plan)) continue;
    throw plan_error(place + ".variable", "is not the slot of a loop variable");
  }
}

}  // namespace venturi::execute

// Rows of a loop's table that ask for the same but for places and sizes are done as one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "execute/context.hpp"
#include "pattern/turn_columns.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// Finds in a loop over a table the rows that follow each other and are requests of one step to one
/// file, with nothing between them. What a rank does with them is what it would do row by row; what
/// a step costs beside its requests is spent once.
class RowRuns {
 public:
  /// Both must live as long as this.
  RowRuns(const schema::Plan& plan, const schema::For& loop, const pattern::TurnColumns& columns);

  /// Does the requests of the row that the slots are of, and of as many of the rows behind it as
  /// are alike, before row `end`; returns how many rows these were. 0: this row is to be done by
  /// itself.
  std::uint64_t run(Context& context, std::uint64_t row, std::uint64_t end);

 private:
  /// How the requests of a step follow from columns.
  struct Way {
    const schema::Transfer* step = nullptr;
    const pattern::RowNumbers* sizes = nullptr;
    /// Null: each begins where the one before it ended.
    const pattern::RowNumbers* places = nullptr;
    /// Variables that may differ from row to row: the loop's, and those of the columns above.
    std::vector<std::size_t> free;
  };

  [[nodiscard]] std::optional<Way> way_of(const schema::Step& step) const;
  [[nodiscard]] bool reads_more(const Way& way) const;
  const std::optional<Way>& way_at(std::size_t number);

  const schema::Plan& plan_;
  const schema::For& loop_;
  const pattern::TurnColumns& columns_;
  /// The choice that is all of the loop but for its computing; null: there is none.
  const schema::Choose* choice_ = nullptr;
  /// Of each step of the choice that was looked at, whether its rows can be done together.
  std::vector<std::optional<std::optional<Way>>> ways_;
};

}  // namespace venturi::execute

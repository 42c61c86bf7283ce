// The rules for loops over tables, and for loops over whose turns names are staged.
#pragma once

#include <string>

#include "schema/plan.hpp"

namespace venturi::execute {

/// These throw base::Error (exit 2) at `where`.
/// A table has a number for each of its rows, and is about loop variables.
void check_columns(const schema::For& loop, const schema::Plan& plan, const std::string& where);
/// Nothing but loops' variables may run over the names of a file that are staged.
void check_staged_loops(const schema::File& file, const schema::Plan& plan,
                        const std::string& where);

}  // namespace venturi::execute

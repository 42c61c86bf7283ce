// What is wrong with a plan that has the right form: found before anything is started.
#pragma once

#include "schema/plan.hpp"

namespace venturi::execute {

/// Throws base::Error (exit 2) with the path of the first contradiction: slots and files that do
/// not exist, interfaces that are not built, options that are unknown, transfers to files that
/// are never opened, waits where not all ranks come.
void check(const schema::Plan& plan);

}  // namespace venturi::execute

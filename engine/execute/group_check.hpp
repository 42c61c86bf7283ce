// Which ranks the groups of a plan have.
#pragma once

#include "schema/plan.hpp"

namespace venturi::execute {

/// The groups share out all ranks, one behind the other. Throws base::Error (exit 2) if not.
void check_ranks(const schema::Plan& plan);

}  // namespace venturi::execute

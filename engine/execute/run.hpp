// One run of a plan on one rank, from the run's directory to the last event.
#pragma once

#include "base/clock.hpp"
#include "comm/group.hpp"
#include "execute/context.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// Runs a checked plan; every rank of the world calls it with a clock of its own. Returns the
/// exit code, the same on all ranks. Throws base::Broken when the group breaks; then what is left
/// is for `clean`.
int run(const schema::Plan& plan, comm::Group& world, base::Clock clock, const Report& report);

}  // namespace venturi::execute

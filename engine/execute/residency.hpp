// What of the files that a phase is going to read is in this node's memory already.
#pragma once

#include <vector>

#include "execute/context.hpp"
#include "execute/page_count.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// The files that this rank will read, as far as their names are known before the phase; trees of
/// many small files are left out, because opening them would warm what the system knows about
/// them. Not collective.
ToRead files_to_read(Context& context, const std::vector<schema::Step>& steps);

}  // namespace venturi::execute

// One of the two directions in which the requests of a step may go.
#pragma once

#include "execute/moving.hpp"
#include "execute/size_count.hpp"

namespace venturi::execute {

/// A direction, and what is counted for it.
struct DirectionState {
  explicit DirectionState(Moving& the_moving)
      : moving(the_moving), sizes(the_moving.context.meter(), the_moving.kind) {}
  Moving& moving;
  SizeRun sizes;
};

}  // namespace venturi::execute

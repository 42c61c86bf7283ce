// The state of one rank during one run: the sum of its parts. A function takes the part it needs.
#pragma once

#include <utility>

#include "execute/measurement.hpp"
#include "execute/rank_view.hpp"
#include "execute/request_memory.hpp"
#include "execute/run_control.hpp"
#include "execute/run_files.hpp"

namespace venturi::execute {

/// Where the rank is, what is counted, when it stops, what is open, and its memory; each of the
/// parts knows only those before it.
class Context : public RankView,
                public Measurement,
                public RunControl,
                public RunFiles,
                public RequestMemory {
 public:
  Context(const schema::Plan& the_plan, const Part& the_part, comm::Group& the_group,
          comm::Group& the_world, base::Clock& the_clock, Report report)
      : RankView(the_plan, the_part, the_group, the_world),
        Measurement(*this, the_clock, std::move(report)),
        RunControl(*this, *this),
        RunFiles(*this, *this),
        RequestMemory(*this, *this) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() = default;

  /// The same as `wait` in the middle of a phase whose limit others may reach before.
  void meet() {
    if (limiter) limiter->meet(meter().operations());
    wait();
    writes.meet();
  }
};

}  // namespace venturi::execute

// From the meters of all ranks to one `phase_finished` event.
#pragma once

#include <cstdint>

#include "comm/group.hpp"
#include "measure/meter.hpp"
#include "schema/event.hpp"

namespace venturi::measure {

/// When a rank was in the phase, on rank 0's clock.
struct Span {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  /// The start on the rank's own clock.
  std::uint64_t own_start_ns = 0;
};

/// Fills what was measured: bytes, operations, errors, seconds, by_operation, request_sizes,
/// per_rank, time_line, open_loop, details and short_transfers. Collective; only rank 0's result is
/// whole. `first_start_ns` receives the earliest start over the ranks.
schema::PhaseFinished merge(comm::Group& group, Meter& meter, const Span& span,
                            std::int64_t& first_start_ns);

}  // namespace venturi::measure

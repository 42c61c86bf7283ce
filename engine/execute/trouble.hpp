// What went wrong on one rank becomes what all ranks know.
#pragma once

#include <optional>

#include "base/error.hpp"
#include "comm/group.hpp"

namespace venturi::execute {

/// The problem of the lowest rank that has one, the same on all ranks. Collective.
std::optional<base::Problem> agree(comm::Group& group, const std::optional<base::Problem>& mine);

/// Thrown by all ranks together once they agreed that the run cannot go on.
class RunFailed : public base::Error {
 public:
  using base::Error::Error;
};

}  // namespace venturi::execute

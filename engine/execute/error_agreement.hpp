// What went wrong on one rank becomes what all ranks know.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "comm/group.hpp"

namespace venturi::execute {

/// The code of a problem that only follows from one of another rank.
inline constexpr std::string_view kFollows = "follows";

/// The problem of the lowest rank that has one, the same on all ranks; one that only follows from
/// another counts if there is no other. `largest` becomes the largest of all ranks. Collective.
std::optional<base::Problem> agree(comm::Group& group, const std::optional<base::Problem>& mine,
                                   std::uint64_t& largest);
inline std::optional<base::Problem> agree(comm::Group& group,
                                          const std::optional<base::Problem>& mine) {
  std::uint64_t nothing = 0;
  return agree(group, mine, nothing);
}

/// Thrown by all ranks together once they agreed that the run cannot go on.
class RunFailed : public base::Error {
 public:
  using base::Error::Error;
};

}  // namespace venturi::execute

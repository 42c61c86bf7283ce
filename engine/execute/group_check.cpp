// Which ranks the groups of a plan have, checked.
#include "execute/group_check.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace venturi::execute {

using base::plan_error;

void check_ranks(const schema::Plan& plan) {
  std::int64_t next = 0;
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    const schema::Group& group = plan.groups[i];
    if (group.first != next) {
      throw plan_error(
          fmt::format("groups[{}].first", i),
          fmt::format("must be {}: groups have their ranks one behind the other", next));
    }
    std::int64_t ranks = 0;
    if (__builtin_mul_overflow(group.ranks, group.instances, &ranks) || ranks > plan.ranks - next) {
      throw plan_error(fmt::format("groups[{}].ranks", i),
                       fmt::format("the run has only {} ranks", plan.ranks));
    }
    next += ranks;
  }
  if (next != plan.ranks) {
    throw plan_error("groups", fmt::format("the groups have {} of the {} ranks", next, plan.ranks));
  }
}

}  // namespace venturi::execute

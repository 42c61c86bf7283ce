// The engine whose ranks are threads of one process: a whole run under the thread sanitizer.
#include <algorithm>
#include <thread>
#include <vector>

#include "comm/forked.hpp"

namespace venturi::comm {

/// Nobody watches the ranks: neither a heartbeat nor a deadline ends them.
int launch(const Launch& how) {
  how.on_started();
  SharedSegment segment(how.ranks);
  std::vector<int> codes(how.ranks);
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < how.ranks; ++rank) {
    ranks.emplace_back([&, rank] { codes[rank] = be_rank(how, segment, rank); });
  }
  for (std::thread& rank : ranks) rank.join();
  if (!segment.aborted()) return *std::max_element(codes.begin(), codes.end());
  const base::Problem problem = segment.problem();
  how.on_broken(problem);
  return problem.exit_code;
}

LaunchFacts launch_facts() { return {"threads", ""}; }

}  // namespace venturi::comm

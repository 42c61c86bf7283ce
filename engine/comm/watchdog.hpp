// The process that watches the MPI ranks of one node; forked before MPI starts.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/descriptor.hpp"
#include "comm/launch.hpp"
#include "comm/shared_page.hpp"

namespace venturi::comm {

/// Only the first rank of a node needs one. Before MPI starts a rank knows from its launcher alone
/// whether it may be that; where the launcher says nothing each rank forks one, and all but the
/// first dismiss it. It ends as soon as its rank does.
class Watchdog {
 public:
  /// Forks, unless the launcher says that another rank came first here. `how` must live as long as
  /// this process.
  explicit Watchdog(const Launch& how);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() { dismiss(); }

  /// Tells it what to watch. `has_rank_0`: the first of the ranks is rank 0 of the group.
  void watch(const SharedPage& shared_page, std::size_t ranks, const std::string& host,
             bool has_rank_0);
  /// Nothing is to be watched any more; waits for its end.
  void dismiss() noexcept;

 private:
  base::Descriptor orders_;
  pid_t process_ = -1;
};

}  // namespace venturi::comm

// The process that watches the MPI ranks of one node; forked before MPI starts.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/descriptor.hpp"
#include "comm/board.hpp"
#include "comm/launch.hpp"

namespace venturi::comm {

/// Every rank forks one, because before MPI starts nobody knows who is the first of its node; all
/// but the first ranks dismiss it. It ends as soon as its rank does.
class Sentinel {
 public:
  /// Forks. `how` must live as long as this process.
  explicit Sentinel(const Launch& how);
  Sentinel(const Sentinel&) = delete;
  Sentinel& operator=(const Sentinel&) = delete;
  ~Sentinel() { dismiss(); }

  /// Tells it what to watch. `has_rank_0`: the first of the ranks is rank 0 of the group.
  void watch(const Board& board, std::size_t ranks, const std::string& host, bool has_rank_0);
  /// Nothing is to be watched any more; waits for its end.
  void dismiss() noexcept;

 private:
  base::Descriptor orders_;
  pid_t process_ = -1;
};

}  // namespace venturi::comm

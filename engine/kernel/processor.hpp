// The processor as a kernel sees it: caches, the cores that a rank may use, its instructions.
#pragma once

#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace venturi::kernel {

/// A cache for data, as the kernel of the system says.
struct Cache {
  std::uint64_t level = 0;
  std::uint64_t bytes = 0;
  /// How many of them all processors of the node have.
  std::uint64_t count = 1;
};

/// The data caches of this node, the smallest level first; empty where the system does not say.
std::vector<Cache> data_caches();
/// The bytes of all last-level caches of this node; 32 MiB where the system does not say.
std::uint64_t last_level_bytes(const std::vector<Cache>& caches);
/// Adds what memory kernels depend on to a result: the caches, the size of a page, huge pages.
void note_memory(const std::vector<Cache>& caches, schema::KernelResult& out);

/// Adds the node and the processor of each rank, and the names of the nodes, to a result.
/// Collective.
void note_placement(comm::Group& group, schema::KernelResult& out);

/// Throws base::Error, in the words of kernel `what`, if the ranks of this node cannot have so many
/// bytes each: memory that is promised but not there would end the process. Not collective.
void check_memory(const comm::Group& group, std::uint64_t bytes_of_rank, const std::string& what);

/// While it lives, this rank stays on one of the processors that it may use: those of one node
/// choose different ones, as far as there are enough.
class Pinned {
 public:
  explicit Pinned(const comm::Group& group);
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned();

 private:
  cpu_set_t before_{};
  bool is_pinned_ = false;
};

}  // namespace venturi::kernel

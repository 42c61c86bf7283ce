// Leaves the caches no room: those of the servers by overfilling them, the client's by locking its
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "execute/context.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// Memory that is locked until it goes.
class Occupation {
 public:
  /// Locks so many bytes. Throws base::Error (exit 5) when the system refuses.
  Occupation(Context& context, std::uint64_t bytes);
  Occupation(const Occupation&) = delete;
  Occupation& operator=(const Occupation&) = delete;
  ~Occupation();

 private:
  void* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// What a node has, in bytes: the machine's memory, or less if a control group allows less.
struct NodeMemory {
  std::uint64_t total = 0;
  /// What can be had without swapping.
  std::uint64_t available = 0;
};
[[nodiscard]] NodeMemory node_memory();

/// This rank's part, in bytes, of `share` of its node's memory; to be asked before any rank locks
/// its part. Throws base::Error (exit 5) if the rest would not do without swapping.
[[nodiscard]] std::uint64_t occupied_part(const Context& context, double share);

/// Writes this rank's part of a scratch file of `bytes`, makes it persistent, reads it back past
/// the client's cache where that is possible, and removes it. Throws base::Error (exit 5).
void overfill(Context& context, std::uint64_t bytes);

}  // namespace venturi::execute

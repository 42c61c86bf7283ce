// The kernels of this build: CMake writes the rows, each kernel its own description and entry.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace venturi::kernel {

/// A kernel, what it is, and its entry or the reason why there is none.
struct Row {
  /// As plans name it.
  const char* name;
  const Description* description;
  const Entry* entry;
  const char* reason;
};

/// All kernels that a plan can name.
std::span<const Row> table();
/// The row of a name; null where there is none.
const Row* find(const std::string& name);

/// Checks that a step can run here on so many ranks. Throws base::Error (exit 2).
void check(const schema::Kernel& step, std::int64_t ranks, bool simulated,
           const std::string& where);

}  // namespace venturi::kernel

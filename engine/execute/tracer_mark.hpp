// What tells a tracer around the run which calls are the program's.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace venturi::execute {

/// Names in the run's directory that nobody makes.
inline constexpr const char* kBeginMark = ".program-begins";
inline constexpr const char* kEndMark = ".program-ends";

/// Looks for a name, where a tracer runs that sees it: what stands before the begin or behind the
/// end the engine did for the program, and not the program.
inline void mark_for_tracer(const std::string& directory, const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment
  if (std::getenv("VENTURI_TRACE_DIR") == nullptr) return;
  (void)::access((directory + "/" + name).c_str(), F_OK);
}

}  // namespace venturi::execute

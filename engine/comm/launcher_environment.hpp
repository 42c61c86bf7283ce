// Which launcher started this process, read from what launchers leave in the environment.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace venturi::comm {

/// A launcher of parallel jobs and what it says about this process.
struct Launcher {
  std::string name;
  std::size_t rank = 0;
  std::size_t size = 1;
};

/// None when the program was started by a shell.
std::optional<Launcher> detect_launcher();

}  // namespace venturi::comm

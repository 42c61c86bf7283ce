// Which launcher started this process, read from what launchers leave in the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace venturi::comm {

enum class LauncherKind : std::uint8_t { kOpenMpi, kPmi, kSlurm };

/// A launcher of parallel jobs and what it says about this process.
struct Launcher {
  LauncherKind kind = LauncherKind::kOpenMpi;
  std::string name;
  std::size_t rank = 0;
  std::size_t size = 1;
  /// Among the processes that this launcher started on this machine; absent if it does not say.
  std::optional<std::size_t> local_rank;
  /// Inside a step of a scheduler.
  bool scheduled = false;
};

/// None when the program was started by a shell.
std::optional<Launcher> detect_launcher();

}  // namespace venturi::comm

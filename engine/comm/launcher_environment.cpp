// The environment variables of the launchers that we know.
#include "comm/launcher_environment.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace venturi::comm {
namespace {

struct Variables {
  LauncherKind kind;
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
};

// srun without a PMI sets SLURM_PROCID even in a batch script, so SLURM's step size decides.
constexpr std::array<Variables, 3> kLaunchers{{
    {LauncherKind::kOpenMpi, "OpenMPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK"},
    {LauncherKind::kPmi, "a PMI launcher (MPICH's mpirun)", "PMI_RANK", "PMI_SIZE",
     "MPI_LOCALRANKID"},
    {LauncherKind::kSlurm, "srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
}};

std::optional<std::size_t> number(const char* variable) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Launcher> detect_launcher() {
  for (const Variables& known : kLaunchers) {
    const auto size = number(known.size);
    const bool scheduled = number("SLURM_STEP_NUM_TASKS").has_value();
    if (size) {
      return Launcher{.kind = known.kind,
                      .name = known.name,
                      .rank = number(known.rank).value_or(0),
                      .size = *size,
                      .local_rank = number(known.local_rank),
                      .scheduled = scheduled};
    }
  }
  return std::nullopt;
}

}  // namespace venturi::comm

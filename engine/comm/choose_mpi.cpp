// The engine with MPI: under a launcher the group is MPI's, else alone or forked.
#include <fmt/format.h>

#include <cstdlib>

#include "comm/launch.hpp"
#include "comm/launcher_environment.hpp"

namespace venturi::comm {
namespace {

/// Whether the launcher certainly belongs to another MPI. (OpenMPI may be started through PMI, but
/// only by a scheduler.)
bool is_foreign(const Launcher& launcher, const std::string& library) {
  const bool open_mpi = library.starts_with("Open MPI");
  if (launcher.kind == LauncherKind::kOpenMpi) return !open_mpi;
  return launcher.kind == LauncherKind::kPmi && open_mpi && !launcher.scheduled;
}

}  // namespace

int launch(const Launch& how) {
  const auto launcher = detect_launcher();
  if (!launcher) return launch_forked(how);
  const std::string library = mpi_library();
  if (launcher->size > 1 && is_foreign(*launcher, library)) {
    // Each copy comes here; one voice is enough.
    if (launcher->rank != 0) return base::kExitFailed;
    throw base::Error(
        {.code = "ranks",
         .message = fmt::format("{} started an engine that is built for {}; each of the {} copies "
                                "would run the whole plan",
                                launcher->name, library, launcher->size),
         .hint = "start the engine with the mpirun of its own MPI"});
  }
  return launch_mpi(how);
}

LaunchFacts launch_facts() { return {"mpi", mpi_library()}; }

}  // namespace venturi::comm

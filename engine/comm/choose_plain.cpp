// The engine without MPI: alone or forked.
#include <fmt/format.h>

#include "comm/launch.hpp"
#include "comm/launcher_environment.hpp"

namespace venturi::comm {

int launch(const Launch& how) {
  const auto launcher = detect_launcher();
  if (launcher && launcher->size > 1) {
    // Each copy comes here; one voice is enough.
    if (launcher->rank != 0) return base::kExitFailed;
    throw base::Error(
        {.code = "ranks",
         .message = fmt::format("{} started {} copies of an engine that has no MPI; each would "
                                "run the whole plan",
                                launcher->name, launcher->size),
         .hint = "start venturi-engine-openmpi or venturi-engine-mpich, or no mpirun at all"});
  }
  return launch_forked(how);
}

LaunchFacts launch_facts() { return {"alone or forked", ""}; }

}  // namespace venturi::comm

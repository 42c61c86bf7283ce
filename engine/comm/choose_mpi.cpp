// The engine with MPI: under a launcher the group is MPI's, else alone or forked.
#include "comm/launch.hpp"
#include "comm/launcher_environment.hpp"

namespace venturi::comm {

int launch(const Launch& how) {
  if (detect_launcher()) return launch_mpi(how);
  return how.ranks > 1 || how.forked ? launch_forked(how) : launch_alone(how);
}

LaunchFacts launch_facts() { return {"mpi", mpi_library()}; }

}  // namespace venturi::comm

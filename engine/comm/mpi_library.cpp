// Which MPI the engine was built with.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <string>

#include "comm/launch.hpp"

namespace venturi::comm {

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string name(text.data(), static_cast<std::size_t>(length));
  name.resize(std::min(name.find_first_of(",\n"), name.size()));
  std::replace(name.begin(), name.end(), '\t', ' ');
  return name;
}

}  // namespace venturi::comm

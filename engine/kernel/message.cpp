// How messages of MPI travel, and how often they are sent.
#include "kernel/message.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

namespace venturi::kernel {

MPI_Comm communicator_of(const comm::Group& group) {
  return MPI_Comm_f2c(static_cast<MPI_Fint>(*group.communicator()));
}

void note_transport(schema::KernelResult& out) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string library(text.data(), static_cast<std::size_t>(length));
  out.facts.push_back({"library", library.substr(0, library.find('\n'))});
  for (const char* name :
       {"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_btl_vader_single_copy_mechanism", "UCX_TLS",
        "UCX_NET_DEVICES", "FI_PROVIDER", "MPICH_OFI_NIC_POLICY"}) {
    if (const char* value = std::getenv(name)) out.facts.push_back({name, value});
  }
}

std::vector<std::uint64_t> message_sizes(std::uint64_t most) {
  std::vector<std::uint64_t> sizes{0};
  for (std::uint64_t size = 1; size < most; size *= 2) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

std::uint64_t times_in(double wanted_s, double once_s, std::uint64_t least, std::uint64_t most) {
  const double times = once_s > 0.0 ? wanted_s / once_s : static_cast<double>(most);
  if (times >= static_cast<double>(most)) return most;
  return std::max(least, static_cast<std::uint64_t>(times));
}

}  // namespace venturi::kernel

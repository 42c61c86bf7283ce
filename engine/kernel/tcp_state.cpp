// What the system says of a connection. The C library's own description of TCP_INFO is older than
// that of the kernel, and a file has one of them.
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>

#include "kernel/tcp_connection.hpp"

namespace venturi::kernel {

TcpState tcp_state(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  TcpState state;
  state.retransmits = info.tcpi_total_retrans;
  state.smoothed_s = static_cast<double>(info.tcpi_rtt) * 1e-6;
  state.window_bytes = static_cast<double>(info.tcpi_snd_cwnd) * info.tcpi_snd_mss;
  state.segment_bytes = info.tcpi_snd_mss;
  // A kernel before 4.9 does not fill it in.
  if (size >= offsetof(tcp_info, tcpi_delivery_rate) + sizeof info.tcpi_delivery_rate) {
    state.delivered_per_s = static_cast<double>(info.tcpi_delivery_rate);
  }
  return state;
}

std::string congestion_control(int socket) {
  std::array<char, 16> name{};
  socklen_t size = name.size() - 1;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) != 0) return "unknown";
  return name.data();
}

std::uint64_t unconfirmed_bytes(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace venturi::kernel

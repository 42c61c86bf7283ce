// Connections between ranks. The rank that connects shows a random token that came through the
// group: addresses of private networks may be those of another node, where another rank listens.
#include "kernel/tcp_connection.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/clock.hpp"
#include "kernel/kernel.hpp"

namespace venturi::kernel {
namespace {

constexpr int kTickMs = 100;
/// A program that connects and does not say the token may take so long.
constexpr double kUnknownClientS = 1.0;
constexpr int kWelcome = 0x5a;

/// What the rank that connects says first: the token, and which connection it is.
struct Hello {
  std::array<std::byte, 16> token{};
  std::uint64_t place = 0;
};

class Deadline {
 public:
  explicit Deadline(double limit_s)
      : end_ns_(base::monotonic_ns() + static_cast<std::uint64_t>(limit_s * base::kNsPerS)) {}
  [[nodiscard]] bool is_over() const { return base::monotonic_ns() >= end_ns_; }

 private:
  std::uint64_t end_ns_;
};

base::Error failed(const std::string& what, int error) {
  return wrong_value(fmt::format("tcp_pairs: {}: {}", what, std::strerror(error)));
}

/// Sends, and waits, go in pieces of so long, between which the rank shows that it lives.
void set_up(int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  ::fcntl(socket, F_SETFL, flags & ~O_NONBLOCK);
  const timeval piece{0, kTickMs * 1000};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &piece, sizeof piece);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &piece, sizeof piece);
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Whether a descriptor is ready before the deadline.
bool is_ready(int descriptor, short events, const Deadline& deadline, const Waiting& waiting) {
  while (!deadline.is_over()) {
    pollfd one{descriptor, events, 0};
    if (::poll(&one, 1, kTickMs) > 0) return true;
    waiting.tick();
  }
  return false;
}

bool is_mapped(const in6_addr& address) { return IN6_IS_ADDR_V4MAPPED(&address); }

/// An address of the system with a port, and how long it is.
struct Name {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Name name_of(const in6_addr& address, std::uint64_t port) {
  Name name;
  if (is_mapped(address)) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&four.sin_addr, &address.s6_addr[12], sizeof four.sin_addr);
    std::memcpy(&name.storage, &four, sizeof four);
    name.length = sizeof four;
  } else {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    six.sin6_addr = address;
    std::memcpy(&name.storage, &six, sizeof six);
    name.length = sizeof six;
  }
  return name;
}

base::Descriptor new_socket(int family) {
  return base::Descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

/// Why there is no connection, or the connection.
struct Attempt {
  base::Descriptor socket;
  std::string reason;
};

Attempt attempt(const Name& target, std::span<const Address> sources, const Waiting& waiting) {
  const int family = target.get()->sa_family;
  Attempt result{new_socket(family), ""};
  const int socket = result.socket.get();
  const auto source = std::find_if(sources.begin(), sources.end(), [&](const Address& one) {
    return is_mapped(one.address) == (family == AF_INET);
  });
  if (source != sources.end()) {
    const Name own = name_of(source->address, 0);
    if (::bind(socket, own.get(), own.length) != 0) {
      return {base::Descriptor(), std::strerror(errno)};
    }
  }
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
  if (::connect(socket, target.get(), target.length) != 0 && errno != EINPROGRESS) {
    return {base::Descriptor(), std::strerror(errno)};
  }
  if (!is_ready(socket, POLLOUT, Deadline(waiting.limit_s), waiting)) {
    return {base::Descriptor(),
            fmt::format("no answer within {:.1f} s (a firewall?)", waiting.limit_s)};
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return {base::Descriptor(), std::strerror(error)};
  set_up(socket);
  return result;
}

/// A connection to the rank that listens, which knows the token.
Attempt introduced(const Name& target, std::span<const Address> sources, const Hello& hello,
                   const Waiting& waiting) {
  Attempt result = attempt(target, sources, waiting);
  if (!result.socket) return result;
  std::byte answer{};
  try {
    send_whole(result.socket.get(), std::as_bytes(std::span(&hello, 1)), waiting, "");
    receive_whole(result.socket.get(), std::span(&answer, 1), waiting, "");
  } catch (const base::Broken&) {
    throw;
  } catch (const base::Error&) {
    return {base::Descriptor(), "another program answers there"};
  }
  if (answer != std::byte{kWelcome}) return {base::Descriptor(), "another program answers there"};
  return result;
}

}  // namespace

Connections connect_to(const Invitation& invitation, std::uint64_t streams,
                       std::span<const Address> sources, const Waiting& waiting,
                       const std::string& whom) {
  std::vector<Address> targets(invitation.all().begin(), invitation.all().end());
  const bool is_here = invitation.machine == machine_key();
  if (!is_here) std::erase_if(targets, [](const Address& one) { return one.is_loopback(); });
  std::stable_partition(targets.begin(), targets.end(),
                        [](const Address& one) { return one.is_loopback(); });
  const Waiting each{
      waiting.limit_s / static_cast<double>(std::max<std::size_t>(targets.size(), 1)),
      waiting.tick};
  std::vector<std::string> reasons;
  for (const Address& target : targets) {
    const Name name = name_of(target.address, invitation.port);
    Connections made;
    made.address = target;
    Attempt control = introduced(name, sources, {invitation.token, 0}, each);
    made.control = std::move(control.socket);
    std::string reason = control.reason;
    for (std::uint64_t i = 0; i < streams && reason.empty(); ++i) {
      Attempt stream = introduced(name, sources, {invitation.token, i + 1}, each);
      reason = stream.reason;
      made.streams.push_back(std::move(stream.socket));
    }
    if (reason.empty()) return made;
    reasons.push_back(fmt::format("{}: {}", target.text(), reason));
  }
  if (reasons.empty()) reasons.emplace_back("it has no address that another machine can reach");
  throw wrong_value(fmt::format("tcp_pairs: no connection to {} at port {}: {}", whom,
                                invitation.port, fmt::join(reasons, "; ")));
}

Listener::Listener(std::span<const Address> own, bool is_wanted) {
  Name name = name_of(in6addr_any, 0);
  if (is_wanted) name = name_of(own.front().address, 0);
  socket_ = new_socket(name.get()->sa_family);
  if (!socket_ && !is_wanted) {  // a system without IPv6
    in6_addr any{};
    any.s6_addr[10] = any.s6_addr[11] = 0xff;
    name = name_of(any, 0);
    socket_ = new_socket(AF_INET);
  }
  if (!socket_) throw failed("cannot make a socket", errno);
  const int off = 0;
  if (!is_wanted && name.get()->sa_family == AF_INET6) {
    ::setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (::bind(socket_.get(), name.get(), name.length) != 0 || ::listen(socket_.get(), 64) != 0) {
    throw failed(is_wanted ? "cannot listen at " + own.front().text() : "cannot listen", errno);
  }
  if (::getsockname(socket_.get(), name.get(), &name.length) != 0) {
    throw failed("cannot listen", errno);
  }
  // Both families have their port in the same place.
  invitation_.port = ntohs(reinterpret_cast<const sockaddr_in*>(&name.storage)->sin_port);
  if (::getrandom(invitation_.token.data(), invitation_.token.size(), 0) < 0) {
    throw failed("cannot make a token", errno);
  }
  invitation_.machine = machine_key();
  invitation_.count = std::min(is_wanted ? 1 : own.size(), invitation_.addresses.size());
  std::copy_n(own.begin(), invitation_.count, invitation_.addresses.begin());
}

base::Descriptor Listener::accept_one(std::uint64_t place, const Waiting& waiting,
                                      const std::string& whom) {
  const Deadline deadline(waiting.limit_s);
  while (is_ready(socket_.get(), POLLIN, deadline, waiting)) {
    base::Descriptor one(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!one) continue;
    set_up(one.get());
    Hello hello;
    try {
      receive_whole(one.get(), std::as_writable_bytes(std::span(&hello, 1)),
                    {kUnknownClientS, waiting.tick}, "");
    } catch (const base::Broken&) {
      throw;
    } catch (const base::Error&) {
      continue;
    }
    if (hello.token != invitation_.token || hello.place != place) continue;
    const std::byte welcome{kWelcome};
    send_whole(one.get(), std::span(&welcome, 1), waiting, whom);
    return one;
  }
  throw wrong_value(
      fmt::format("tcp_pairs: no connection came from {} within {:.1f} s", whom, waiting.limit_s));
}

Connections Listener::accept(std::uint64_t streams, const Waiting& waiting,
                             const std::string& whom) {
  Connections made;
  made.control = accept_one(0, waiting, whom);
  for (std::uint64_t i = 0; i < streams; ++i) {
    made.streams.push_back(accept_one(i + 1, waiting, whom));
  }
  return made;
}

void send_whole(int socket, std::span<const std::byte> data, const Waiting& waiting,
                const std::string& whom) {
  const Deadline deadline(waiting.limit_s);
  while (!data.empty()) {
    const ssize_t sent = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      data = data.subspan(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) throw failed("sending to " + whom, errno);
    waiting.tick();
    if (deadline.is_over()) throw failed("sending to " + whom, ETIMEDOUT);
  }
}

void receive_whole(int socket, std::span<std::byte> data, const Waiting& waiting,
                   const std::string& whom) {
  const Deadline deadline(waiting.limit_s);
  while (!data.empty()) {
    const ssize_t received = ::recv(socket, data.data(), data.size(), 0);
    if (received > 0) {
      data = data.subspan(static_cast<std::size_t>(received));
      continue;
    }
    if (received == 0) throw failed("receiving from " + whom, ECONNRESET);
    if (errno != EAGAIN && errno != EINTR) throw failed("receiving from " + whom, errno);
    waiting.tick();
    if (deadline.is_over()) throw failed("receiving from " + whom, ETIMEDOUT);
  }
}

}  // namespace venturi::kernel

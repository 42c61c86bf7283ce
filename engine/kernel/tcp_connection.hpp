// TCP connections between two ranks: which addresses a node has, who listens, who connects, and
// what the system says of a connection.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace venturi::kernel {

/// How long a rank waits for another one, and what it does meanwhile, at least each 0.1 s.
struct Waiting {
  double limit_s;
  std::function<void()> tick;
};

/// An address of this node; those of IPv4 are mapped into IPv6.
struct Address {
  in6_addr address{};
  std::array<char, 16> interface{};

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_loopback() const;
};

/// The addresses of this node that others may reach: those of interfaces that are up, without
/// addresses of one link; loopback stands last. `wanted` is empty (all), the name of an interface,
/// an address, or a network as ADDRESS/BITS. Throws base::Error where none fits, with `whose` node
/// it is.
std::vector<Address> own_addresses(const std::string& wanted, const std::string& whose);

/// The same number in all processes of one running system, another one elsewhere.
std::uint64_t machine_key();

/// What the rank that listens tells the one that connects. Without addresses it cannot listen.
struct Invitation {
  std::array<std::byte, 16> token{};
  std::uint64_t machine = 0;
  std::uint64_t port = 0;
  std::uint64_t count = 0;
  std::array<Address, 16> addresses{};

  [[nodiscard]] std::span<const Address> all() const {
    return std::span(addresses).first(static_cast<std::size_t>(count));
  }
};

/// The connections of a pair of ranks.
struct Connections {
  /// For round trips, and for words between two turns.
  base::Descriptor control;
  std::vector<base::Descriptor> streams;
  /// That of the rank that listened, on the rank that connected.
  Address address;
};

/// Waits for the connections of one other rank, which knows the token.
class Listener {
 public:
  /// Listens at a free port of the first address where one was wanted, else at all addresses.
  /// Throws base::Error.
  Listener(std::span<const Address> own, bool is_wanted);
  [[nodiscard]] const Invitation& invitation() const noexcept { return invitation_; }
  /// Throws base::Error, with `whom` it waited for.
  Connections accept(std::uint64_t streams, const Waiting& waiting, const std::string& whom);

 private:
  base::Descriptor accept_one(std::uint64_t place, const Waiting& waiting, const std::string& whom);

  base::Descriptor socket_;
  Invitation invitation_;
};

/// Connects by the first address that answers; those of loopback come first if the other rank is
/// on this machine and only then. `sources` are addresses to come from; empty: whichever. Throws
/// base::Error, with `whom` it was to reach and what each address said.
Connections connect_to(const Invitation& invitation, std::uint64_t streams,
                       std::span<const Address> sources, const Waiting& waiting,
                       const std::string& whom);

/// Sends or receives all bytes. Throws base::Error.
void send_whole(int socket, std::span<const std::byte> data, const Waiting& waiting,
                const std::string& whom);
void receive_whole(int socket, std::span<std::byte> data, const Waiting& waiting,
                   const std::string& whom);

/// What the system says of a connection (TCP_INFO).
struct TcpState {
  /// Segments that were sent again so far.
  std::uint64_t retransmits = 0;
  double smoothed_s = 0.0;
  double window_bytes = 0.0;
  /// The rate at which data were delivered lately, in bytes per second; 0: not known.
  double delivered_per_s = 0.0;
  std::uint64_t segment_bytes = 0;
};
TcpState tcp_state(int socket);
/// The algorithm by which a connection chooses its window.
std::string congestion_control(int socket);
/// Bytes that were handed to the system and that the other end has not confirmed.
std::uint64_t unconfirmed_bytes(int socket);

}  // namespace venturi::kernel

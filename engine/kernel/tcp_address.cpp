// Which addresses a node has, and what machine it is.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/random.hpp"
#include "comm/host.hpp"
#include "kernel/kernel.hpp"
#include "kernel/tcp_connection.hpp"

namespace venturi::kernel {
namespace {

/// An address of the system, those of IPv4 mapped into IPv6; nothing for other families.
std::optional<in6_addr> mapped(const sockaddr* name) {
  in6_addr address{};
  if (name == nullptr) return std::nullopt;
  if (name->sa_family == AF_INET6) {
    return reinterpret_cast<const sockaddr_in6*>(name)->sin6_addr;
  }
  if (name->sa_family != AF_INET) return std::nullopt;
  address.s6_addr[10] = address.s6_addr[11] = 0xff;
  std::memcpy(&address.s6_addr[12], &reinterpret_cast<const sockaddr_in*>(name)->sin_addr, 4);
  return address;
}

/// A network: an address of which the first bits count.
struct Network {
  in6_addr address{};
  unsigned bits = 128;

  [[nodiscard]] bool has(const in6_addr& other) const {
    for (unsigned bit = 0; bit < bits; ++bit) {
      const unsigned mask = 0x80U >> (bit % 8);
      if (((address.s6_addr[bit / 8] ^ other.s6_addr[bit / 8]) & mask) != 0) return false;
    }
    return true;
  }
};

/// ADDRESS or ADDRESS/BITS; nothing where the text is neither.
std::optional<Network> network_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string address = text.substr(0, slash);
  Network network;
  unsigned most = 128;
  if (in_addr four{}; ::inet_pton(AF_INET, address.c_str(), &four) == 1) {
    network.address.s6_addr[10] = network.address.s6_addr[11] = 0xff;
    std::memcpy(&network.address.s6_addr[12], &four, sizeof four);
    most = 32;
  } else if (::inet_pton(AF_INET6, address.c_str(), &network.address) != 1) {
    return std::nullopt;
  }
  if (slash == std::string::npos) return network;
  unsigned bits = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, bits);
  if (error != std::errc() || rest != end || bits > most) return std::nullopt;
  network.bits = 128 - most + bits;
  return network;
}

/// All that others may reach, in the order of the system; loopback stands last.
std::vector<Address> all_addresses() {
  std::vector<Address> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    const auto address = mapped(one->ifa_addr);
    if (!address || (one->ifa_flags & IFF_UP) == 0 || IN6_IS_ADDR_LINKLOCAL(&*address)) continue;
    Address own{*address, {}};
    std::strncpy(own.interface.data(), one->ifa_name, own.interface.size() - 1);
    found.push_back(own);
  }
  ::freeifaddrs(list);
  std::stable_partition(found.begin(), found.end(),
                        [](const Address& one) { return !one.is_loopback(); });
  return found;
}

}  // namespace

std::string Address::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool is_four = IN6_IS_ADDR_V4MAPPED(&address);
  ::inet_ntop(is_four ? AF_INET : AF_INET6,
              is_four ? static_cast<const void*>(&address.s6_addr[12]) : &address, text.data(),
              text.size());
  return fmt::format("{} ({})", text.data(), interface.data());
}

bool Address::is_loopback() const {
  return IN6_IS_ADDR_V4MAPPED(&address) ? address.s6_addr[12] == 127
                                        : IN6_IS_ADDR_LOOPBACK(&address);
}

std::vector<Address> own_addresses(const std::string& wanted, const std::string& whose) {
  const std::vector<Address> all = all_addresses();
  std::vector<Address> chosen = all;
  const auto network = network_of(wanted);
  if (!wanted.empty()) {
    std::erase_if(chosen, [&](const Address& one) {
      return network ? !network->has(one.address) : wanted != one.interface.data();
    });
  }
  if (!chosen.empty()) return chosen;
  std::vector<std::string> texts;
  texts.reserve(all.size());
  for (const Address& one : all) texts.push_back(one.text());
  throw wrong_value(fmt::format(
      "tcp_pairs: {} has no interface, address or network '{}'; it has {}", whose, wanted,
      texts.empty() ? "none that is up" : fmt::format("{}", fmt::join(texts, ", "))));
}

std::uint64_t machine_key() {
  std::string text;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  if (!std::getline(file, text)) text = comm::host_name();
  return base::key_of(text);
}

}  // namespace venturi::kernel

// A group of one process.
#include <unistd.h>

#include <array>
#include <cstring>

#include "comm/host.hpp"
#include "comm/launch.hpp"

namespace venturi::comm {
namespace {

/// Every collective is the identity.
class Alone : public Channel {
 public:
  Alone() : placement_{0, 1, {host_name()}, {0}} {}
  [[nodiscard]] const Placement& placement() const noexcept override { return placement_; }
  [[nodiscard]] std::string name() const override { return "alone"; }
  void barrier(const Poll&) override {}
  void reduce(std::span<std::uint64_t>, Reduction, const Poll&) override {}
  void reduce(std::span<double>, Reduction, const Poll&) override {}
  void gather(std::span<const std::byte> mine, std::span<std::byte> all, const Poll&) override {
    std::memcpy(all.data(), mine.data(), mine.size());
  }
  void broadcast(std::span<std::byte>, const Poll&) override {}
  std::int64_t clock_offset_ns(const base::Clock&, std::uint64_t& uncertainty_ns) override {
    uncertainty_ns = 0;
    return 0;
  }
  [[nodiscard]] Counters& own_counters() noexcept override { return counters_; }
  [[nodiscard]] std::span<Counters> visible_counters() noexcept override { return {&counters_, 1}; }
  void check() override {}
  void abort(const base::Problem&) noexcept override {}

 private:
  Placement placement_;
  Counters counters_;
};

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

int launch_alone(const Launch& how) {
  Group group(std::make_unique<Alone>());
  try {
    return how.body(group);
  } catch (const base::Error& error) {
    how.on_broken(error.problem());
    return error.problem().exit_code;
  }
}

}  // namespace venturi::comm

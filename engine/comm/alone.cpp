// A group of one process.
#include "comm/alone.hpp"

#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>

#include "comm/host.hpp"

namespace venturi::comm {
namespace {

class Alone : public Channel {
 public:
  explicit Alone(SharedSegment& segment)
      : segment_(segment), placement_{0, 1, {host_name()}, {0}} {}
  [[nodiscard]] const Placement& placement() const noexcept override { return placement_; }
  [[nodiscard]] std::string name() const override { return "alone"; }
  void barrier(const Poll&) override {}
  void reduce(std::span<std::uint64_t>, Reduction, const Poll&) override {}
  void reduce(std::span<double>, Reduction, const Poll&) override {}
  void gather(std::span<const std::byte> mine, std::span<std::byte> all, const Poll&) override {
    std::memcpy(all.data(), mine.data(), mine.size());
  }
  void broadcast(std::span<std::byte>, const Poll&) override {}
  void send(std::size_t, std::span<const std::byte>, const Poll&) override { nobody(); }
  void receive(std::size_t, std::span<std::byte>, const Poll&) override { nobody(); }
  bool put_note(std::size_t, std::span<const std::byte>) override { nobody(); }
  std::optional<std::size_t> take_note(std::vector<std::byte>&) override { return std::nullopt; }
  void tell(std::size_t, std::uint64_t event, std::uint64_t at_ns) override {
    told_[event].add(at_ns);
  }
  EventCount event_count(std::uint64_t event) override { return told_[event]; }
  void forget_told(const Poll&) override { told_.clear(); }
  std::unique_ptr<Channel> split(std::uint64_t, const Poll&) override {
    return std::make_unique<Alone>(segment_);
  }
  std::int64_t clock_offset_ns(const base::Clock&, std::uint64_t& uncertainty_ns) override {
    uncertainty_ns = 0;
    return 0;
  }
  [[nodiscard]] Counters& own_counters() noexcept override { return *visible_; }
  [[nodiscard]] std::span<Counters* const> visible_counters() noexcept override {
    return {&visible_, 1};
  }
  bool take_notice(Notice& out) override { return segment_.message_slot().take(out); }
  void check() override {
    if (segment_.aborted()) throw base::Broken(segment_.problem());
  }
  void abort(const base::Problem& problem) noexcept override { segment_.abort(problem); }

 private:
  [[noreturn]] static void nobody() {
    throw base::Error({.code = "fault", .message = "a message to a rank that does not exist"});
  }

  SharedSegment& segment_;
  Placement placement_;
  std::map<std::uint64_t, EventCount> told_;
  Counters* visible_ = segment_.counters().data();
};

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::unique_ptr<Channel> make_alone(SharedSegment& segment) {
  return std::make_unique<Alone>(segment);
}

}  // namespace venturi::comm

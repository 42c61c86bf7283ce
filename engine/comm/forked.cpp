// A group of forked processes with shared memory; the parent watches them.
#include "comm/forked.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "comm/alone.hpp"
#include "comm/host.hpp"
#include "comm/monitor.hpp"
#include "comm/watch.hpp"

namespace venturi::comm {
namespace {

constexpr std::size_t kMostRanks = 4096;

template <class Value>
void fold(Value& into, Value value, Reduction how) noexcept {
  switch (how) {
    case Reduction::kSum:
      into += value;
      break;
    case Reduction::kMinimum:
      into = std::min(into, value);
      break;
    case Reduction::kMaximum:
      into = std::max(into, value);
      break;
  }
}

/// Which of a rank's gates its groups use; shared by all groups of one process.
using TakenGates = std::bitset<SharedSegment::kGatesPerRank>;

/// All forked ranks, or some of them.
class Forked : public Channel {
 public:
  /// All of them; this process is rank `rank`.
  Forked(SharedSegment& segment, std::size_t rank, std::size_t size)
      : segment_(segment),
        members_(size),
        gate_(&segment.gate()),
        taken_(std::make_shared<TakenGates>()) {
    std::iota(members_.begin(), members_.end(), std::size_t{0});
    be_placed(rank);
  }
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;
  ~Forked() override {
    if (owned_gate_) taken_->reset(*owned_gate_);
  }
  [[nodiscard]] const Placement& placement() const noexcept override { return placement_; }
  [[nodiscard]] std::string name() const override { return "forked"; }
  void barrier(const Poll& poll) override { segment_.pass(*gate_, placement_.size, poll); }
  void meet(const Poll& poll) override { segment_.meet(*gate_, placement_.size, poll); }
  void reduce(std::span<std::uint64_t> values, Reduction how, const Poll& poll) override {
    reduce_any(values, how, poll);
  }
  void reduce(std::span<double> values, Reduction how, const Poll& poll) override {
    reduce_any(values, how, poll);
  }
  void gather(std::span<const std::byte> mine, std::span<std::byte> all, const Poll& poll) override;
  void broadcast(std::span<std::byte> data, const Poll& poll) override;
  void send(std::size_t to, std::span<const std::byte> data, const Poll& poll) override {
    segment_.post(members_[placement_.rank], members_[to], data, poll);
  }
  void receive(std::size_t from, std::span<std::byte> data, const Poll& poll) override {
    segment_.fetch(members_[from], members_[placement_.rank], data, poll);
  }
  bool put_note(std::size_t to, std::span<const std::byte> data) override {
    return segment_.put_note(placement_.rank, members_[to], data);
  }
  std::optional<std::size_t> take_note(std::vector<std::byte>& out) override {
    return segment_.take_note(members_[placement_.rank], out);
  }
  void tell(std::size_t to, std::uint64_t event, std::uint64_t at_ns) override {
    segment_.tell(members_[to], event, at_ns);
  }
  EventCount event_count(std::uint64_t event) override {
    return segment_.event_count(members_[placement_.rank], event);
  }
  void forget_told(const Poll& poll) override {
    barrier(poll);
    if (placement_.rank == 0) segment_.forget_told();
    barrier(poll);
  }
  std::unique_ptr<Channel> split(std::uint64_t color, const Poll& poll) override;
  std::int64_t clock_offset_ns(const base::Clock&, std::uint64_t& uncertainty_ns) override {
    uncertainty_ns = 0;
    return 0;
  }
  [[nodiscard]] Counters& own_counters() noexcept override {
    return segment_.counters()[members_[placement_.rank]];
  }
  [[nodiscard]] std::span<Counters* const> visible_counters() noexcept override { return visible_; }
  bool take_notice(Notice& out) override {
    return members_[placement_.rank] == 0 && segment_.message_slot().take(out);
  }
  void check() override {
    if (segment_.aborted()) throw base::Broken(segment_.problem());
  }
  void abort(const base::Problem& problem) noexcept override { segment_.abort(problem); }

 private:
  /// Some of the ranks of another group; `gate_` is set once its members know it.
  Forked(const Forked& whole, std::vector<std::size_t> members, std::size_t rank)
      : segment_(whole.segment_), members_(std::move(members)), taken_(whole.taken_) {
    be_placed(rank);
  }

  void be_placed(std::size_t rank) {
    placement_ = {rank, members_.size(), {host_name()}, std::vector<std::size_t>(members_.size())};
    for (const std::size_t member : members_) visible_.push_back(&segment_.counters()[member]);
  }
  std::byte* slot(std::size_t rank) noexcept { return segment_.slot(members_[rank]); }
  [[nodiscard]] bool has_all() const noexcept { return gate_ == &segment_.gate(); }
  std::size_t take_gate();

  template <class Value>
  void reduce_any(std::span<Value> values, Reduction how, const Poll& poll);

  SharedSegment& segment_;
  /// The rank among all of each of the group's ranks.
  std::vector<std::size_t> members_;
  SharedSegment::Gate* gate_ = nullptr;
  std::shared_ptr<TakenGates> taken_;
  std::optional<std::size_t> owned_gate_;
  Placement placement_;
  std::vector<Counters*> visible_;
};

std::size_t Forked::take_gate() {
  for (std::size_t index = 0; index < taken_->size(); ++index) {
    if (taken_->test(index)) continue;
    taken_->set(index);
    owned_gate_ = index;
    return index;
  }
  throw base::Error({.code = "ranks",
                     .message = fmt::format("more than {} groups with the same first rank at once",
                                            taken_->size())});
}

// The first rank of the new group chooses one of its own gates.
std::unique_ptr<Channel> Forked::split(std::uint64_t color, const Poll& poll) {
  std::memcpy(slot(placement_.rank), &color, sizeof color);
  barrier(poll);
  std::vector<std::size_t> members;
  std::size_t first = placement_.size;
  std::size_t own = 0;
  for (std::size_t rank = 0; rank < placement_.size; ++rank) {
    std::uint64_t other = 0;
    std::memcpy(&other, slot(rank), sizeof other);
    if (other != color) continue;
    first = std::min(first, rank);
    if (rank == placement_.rank) own = members.size();
    members.push_back(members_[rank]);
  }
  barrier(poll);
  std::unique_ptr<Forked> part(new Forked(*this, std::move(members), own));
  std::size_t gate = own == 0 ? part->take_gate() : 0;
  if (own == 0) std::memcpy(slot(placement_.rank), &gate, sizeof gate);
  barrier(poll);
  std::memcpy(&gate, slot(first), sizeof gate);
  part->gate_ = &segment_.gate(members_[first], gate);
  barrier(poll);
  return part;
}

// Each rank folds its own slice of the elements over all ranks, so the work does not grow with
// ranks * ranks. All ranks together have memory for the result. Some of them put it into the slot
// of their first rank, where nobody but its folder reads a slice, and wait until all have taken it.
template <class Value>
void Forked::reduce_any(std::span<Value> values, Reduction how, const Poll& poll) {
  constexpr std::size_t kChunk = SharedSegment::kSlotBytes / sizeof(Value);
  const std::size_t size = placement_.size;
  auto* result = reinterpret_cast<Value*>(has_all() ? segment_.result() : slot(0));
  for (std::size_t begin = 0; begin < values.size(); begin += kChunk) {
    const std::size_t length = std::min(kChunk, values.size() - begin);
    std::memcpy(slot(placement_.rank), &values[begin], length * sizeof(Value));
    barrier(poll);
    const std::size_t from = length * placement_.rank / size;
    const std::size_t to = length * (placement_.rank + 1) / size;
    for (std::size_t rank = 0; rank < size; ++rank) {
      const auto* other = reinterpret_cast<const Value*>(slot(rank));
      for (std::size_t i = from; i < to; ++i) {
        if (rank == 0) {
          result[i] = other[i];
        } else {
          fold(result[i], other[i], how);
        }
      }
    }
    barrier(poll);
    std::memcpy(&values[begin], result, length * sizeof(Value));
    if (!has_all()) barrier(poll);
  }
}

void Forked::gather(std::span<const std::byte> mine, std::span<std::byte> all, const Poll& poll) {
  for (std::size_t begin = 0; begin < mine.size(); begin += SharedSegment::kSlotBytes) {
    const std::size_t length = std::min(SharedSegment::kSlotBytes, mine.size() - begin);
    std::memcpy(slot(placement_.rank), mine.data() + begin, length);
    barrier(poll);
    for (std::size_t rank = 0; placement_.rank == 0 && rank < placement_.size; ++rank) {
      std::memcpy(all.data() + rank * mine.size() + begin, slot(rank), length);
    }
    barrier(poll);
  }
}

void Forked::broadcast(std::span<std::byte> data, const Poll& poll) {
  for (std::size_t begin = 0; begin < data.size(); begin += SharedSegment::kSlotBytes) {
    const std::size_t length = std::min(SharedSegment::kSlotBytes, data.size() - begin);
    // Not through the result: others may still be copying that of the last reduction.
    if (placement_.rank == 0) std::memcpy(slot(0), data.data() + begin, length);
    barrier(poll);
    std::memcpy(data.data() + begin, slot(0), length);
    barrier(poll);
  }
}

std::unique_ptr<Channel> make_channel(const Launch& how, SharedSegment& segment, std::size_t rank) {
  if (how.ranks == 1 && !how.forked) return make_alone(segment);
  return std::make_unique<Forked>(segment, rank, how.ranks);
}

/// What one forked process does from its first to its last moment.
[[noreturn]] void be_process(const Launch& how, SharedSegment& segment, std::size_t rank) {
  const int code = be_rank(how, segment, rank);
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace

int be_rank(const Launch& how, SharedSegment& segment, std::size_t rank) {
  int code = base::kExitFailed;
  try {
    Group group(make_channel(how, segment, rank));
    enter(group.own_counters(), rank);
    code = how.body(group);
  } catch (const base::Error& error) {
    segment.abort(error.problem());
    code = error.problem().exit_code;
  } catch (const std::exception& error) {
    segment.abort({.code = "fault",
                   .message = fmt::format("rank {}: {}", rank, error.what()),
                   .exit_code = 1});
    code = 1;
  }
  segment.counters()[rank].state.store(Counters::kLeft, std::memory_order_release);
  segment.leave(rank);
  return code;
}

int launch_forked(const Launch& how) {
  if (how.ranks > kMostRanks) {
    throw base::Error({.code = "ranks",
                       .message = fmt::format("{} ranks cannot be forked on one machine (at most "
                                              "{})",
                                              how.ranks, kMostRanks),
                       .hint = "start the MPI engine with mpirun or srun"});
  }
  how.on_started();
  SharedSegment segment(how.ranks);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  Monitor monitor(segment, how);
  monitor.start([&](std::size_t rank) { be_process(how, segment, rank); });
  const int code = monitor.wait();
  if (!segment.aborted()) return code;
  base::Problem problem = segment.problem();
  if (const std::string left = monitor.unkillable(); !left.empty()) {
    problem.hint = fmt::format("{} hangs inside the system and cannot be killed", left);
  }
  how.on_broken(problem);
  return problem.exit_code;
}

}  // namespace venturi::comm

// What a group of processes must be able to do; alone, forked and mpi implement it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "comm/notice.hpp"

namespace venturi::comm {

enum class Reduction : std::uint8_t { kSum, kMinimum, kMaximum };

/// Where the ranks are.
struct Placement {
  std::size_t rank = 0;
  std::size_t size = 1;
  /// The host of each node, by node.
  std::vector<std::string> hosts;
  /// The node of each rank, by rank.
  std::vector<std::size_t> node_of_rank;
};

/// What a rank has done in the running phase; in memory that others on its node can read.
struct alignas(64) Counters {
  /// Values of `state`.
  static constexpr std::uint64_t kNotStarted = 0;
  static constexpr std::uint64_t kAtWork = 1;
  static constexpr std::uint64_t kLeft = 2;

  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> operations = 0;
  std::atomic<std::uint64_t> active = 0;
  /// Grows while the rank waits for others, computes, or otherwise shows that it lives.
  std::atomic<std::uint64_t> beats = 0;

  /// When what it does must be over, on CLOCK_MONOTONIC; 0: whenever.
  alignas(64) std::atomic<std::uint64_t> deadline_ns = 0;
  std::atomic<std::uint64_t> state = kNotStarted;
  std::atomic<std::uint64_t> rank = 0;
  std::atomic<std::uint64_t> process = 0;
  /// It is just writing an event.
  std::atomic<std::uint64_t> reporting = 0;
  /// It cannot go on; others of its group need not begin the same again.
  std::atomic<std::uint64_t> failed = 0;
  /// Text, by `set_doing`.
  std::array<std::atomic<std::uint64_t>, 12> doing{};
  /// A library that failed holds what it would wait for, or break on, when MPI ends.
  std::atomic<std::uint64_t> holds_broken = 0;
};

/// How often a rank was told of an event, and the latest moment that came with it.
struct EventCount {
  std::uint64_t times = 0;
  std::uint64_t latest_ns = 0;

  void add(std::uint64_t at_ns) noexcept {
    ++times;
    latest_ns = at_ns > latest_ns ? at_ns : latest_ns;
  }
};

/// The longest note that one rank leaves for another.
inline constexpr std::size_t kMostNoteBytes = 65'536;

/// Called again and again while a rank waits; may throw to end the wait.
using Poll = std::function<void()>;

/// All functions but `send`, `receive`, `put_note`, `take_note`, `tell`, `told`, `check`, `abort`
/// and const ones are collective: every rank of the group calls them in the same order. They wait
/// by polling with back-off and call `poll` meanwhile. They throw base::Error with the problem of
/// the rank that aborted, in whichever group that was.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  [[nodiscard]] virtual const Placement& placement() const noexcept = 0;
  /// `alone`, `forked` or `mpi` with the library's version.
  [[nodiscard]] virtual std::string name() const = 0;

  virtual void barrier(const Poll& poll) = 0;
  /// A barrier that all leave at the same moment: who slept in the first one is awake in the
  /// second.
  virtual void meet(const Poll& poll) {
    barrier(poll);
    barrier(poll);
  }
  /// Every rank gets the sums (or extremes) of each element over the ranks. Of integers only those
  /// below 2^63 have right extremes.
  virtual void reduce(std::span<std::uint64_t> values, Reduction how, const Poll& poll) = 0;
  virtual void reduce(std::span<double> values, Reduction how, const Poll& poll) = 0;
  /// Rank 0 gets `mine.size()` bytes of each rank in `all`, in rank order.
  virtual void gather(std::span<const std::byte> mine, std::span<std::byte> all,
                      const Poll& poll) = 0;
  /// Every rank gets rank 0's bytes.
  virtual void broadcast(std::span<std::byte> data, const Poll& poll) = 0;

  /// Hands bytes to another rank of the group, which receives as many from this one; ends when
  /// `data` may be used again.
  virtual void send(std::size_t to, std::span<const std::byte> data, const Poll& poll) = 0;
  virtual void receive(std::size_t from, std::span<std::byte> data, const Poll& poll) = 0;

  /// Puts at most `kMostNoteBytes` into another rank's box; waits for nobody, and says whether
  /// there was room. Not collective.
  virtual bool put_note(std::size_t to, std::span<const std::byte> data) = 0;
  /// Takes a note out of this rank's own box: who put it there, or nothing. Not collective.
  virtual std::optional<std::size_t> take_note(std::vector<std::byte>& out) = 0;

  /// Lets a rank know that an event happened once more; waits for nobody. These three are for the
  /// group of all ranks.
  virtual void tell(std::size_t to, std::uint64_t event, std::uint64_t at_ns) = 0;
  /// What this rank was told of an event so far; it looks for news.
  virtual EventCount event_count(std::uint64_t event) = 0;
  /// Waits until whatever was told has arrived, and forgets it.
  virtual void forget_told(const Poll& poll) = 0;

  /// The group of the ranks that give the same colour, in their order here. It must end before
  /// this group does. Nodes are numbered anew in it. Throws base::Error when there are too many
  /// groups at once.
  virtual std::unique_ptr<Channel> split(std::uint64_t color, const Poll& poll) = 0;
  /// The Fortran handle of an MPI communicator of just these ranks; nothing without MPI.
  [[nodiscard]] virtual std::optional<int> communicator() const noexcept { return std::nullopt; }

  /// Nanoseconds to add to this rank's clock to get rank 0's; 0 if they share a node.
  /// `uncertainty_ns` is a bound of the error.
  virtual std::int64_t clock_offset_ns(const base::Clock& clock, std::uint64_t& uncertainty_ns) = 0;

  [[nodiscard]] virtual Counters& own_counters() noexcept = 0;
  /// Those of the group's ranks that this rank can read, in rank order, its own among them.
  [[nodiscard]] virtual std::span<Counters* const> visible_counters() noexcept = 0;

  /// What a watching process wants this rank to report; false if there is nothing.
  virtual bool take_notice(Notice&) { return false; }

  /// Throws if a rank has aborted the group.
  virtual void check() = 0;
  /// Makes all waits of all ranks end with this problem. The first one counts.
  virtual void abort(const base::Problem& problem) noexcept = 0;
};

}  // namespace venturi::comm

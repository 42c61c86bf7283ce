// A group of processes as a value: alone, forked or MPI, chosen when the engine starts.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "comm/channel.hpp"

namespace venturi::comm {

/// The ranks that run one plan together. All members but those of `Channel` that are not
/// collective must be called by all ranks in the same order.
class Group {
 public:
  explicit Group(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}

  [[nodiscard]] std::size_t rank() const noexcept { return channel_->placement().rank; }
  [[nodiscard]] std::size_t size() const noexcept { return channel_->placement().size; }
  [[nodiscard]] std::size_t node() const { return node_of(rank()); }
  [[nodiscard]] std::size_t node_of(std::size_t rank) const {
    return channel_->placement().node_of_rank.at(rank);
  }
  [[nodiscard]] const Placement& placement() const noexcept { return channel_->placement(); }
  [[nodiscard]] std::string name() const { return channel_->name(); }

  /// What to call while waiting; it may throw to end the wait.
  void set_poll(Poll poll) { poll_ = std::move(poll); }
  /// Ends with an exception if a rank aborted or `poll` says so.
  void poll() {
    channel_->check();
    if (poll_) poll_();
  }

  void barrier() { channel_->barrier(poll_); }
  void reduce(std::span<std::uint64_t> values, Reduction how) {
    channel_->reduce(values, how, poll_);
  }
  void reduce(std::span<double> values, Reduction how) { channel_->reduce(values, how, poll_); }
  [[nodiscard]] std::uint64_t maximum(std::uint64_t value) {
    reduce(std::span(&value, 1), Reduction::kMaximum);
    return value;
  }
  [[nodiscard]] std::uint64_t minimum(std::uint64_t value) {
    reduce(std::span(&value, 1), Reduction::kMinimum);
    return value;
  }
  [[nodiscard]] std::uint64_t sum(std::uint64_t value) {
    reduce(std::span(&value, 1), Reduction::kSum);
    return value;
  }
  /// Rank 0 gets every rank's value in rank order; the others get nothing.
  template <class Value>
  [[nodiscard]] std::vector<Value> gather(const Value& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> all(rank() == 0 ? size() : 0);
    channel_->gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)),
                     poll_);
    return all;
  }
  template <class Value>
  void broadcast(Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    channel_->broadcast(std::as_writable_bytes(std::span(&value, 1)), poll_);
  }

  /// Hands bytes to another rank, which must receive as many. Not collective.
  void send(std::size_t to, std::span<const std::byte> data) { channel_->send(to, data, poll_); }
  void receive(std::size_t from, std::span<std::byte> data) {
    channel_->receive(from, data, poll_);
  }

  /// Leaves a note of at most `kMostNoteBytes` for another rank, if there is room; waits for
  /// nobody. Not collective. Every note must be taken before the group ends.
  bool put_note(std::size_t to, std::span<const std::byte> data) {
    return channel_->put_note(to, data);
  }
  /// Takes a note that another rank left: who it was, or nothing. Not collective.
  [[nodiscard]] std::optional<std::size_t> take_note(std::vector<std::byte>& out) {
    return channel_->take_note(out);
  }

  /// Lets a rank know that an event happened once more; waits for nobody. Not collective; these
  /// three are for the group of all ranks.
  void tell(std::size_t to, std::uint64_t event, std::uint64_t at_ns) {
    channel_->tell(to, event, at_ns);
  }
  /// What this rank was told of an event so far. Not collective.
  [[nodiscard]] EventCount event_count(std::uint64_t event) { return channel_->event_count(event); }
  /// Waits until whatever was told has arrived, and forgets it.
  void forget_told() { channel_->forget_told(poll_); }

  /// The group of those that give the same colour, in their order here; it polls as this one does.
  /// Several may live at once, none longer than this one.
  [[nodiscard]] Group split(std::uint64_t color) {
    Group part(channel_->split(color, poll_));
    part.poll_ = poll_;
    return part;
  }
  /// The Fortran handle of an MPI communicator of just these ranks; nothing without MPI.
  [[nodiscard]] std::optional<int> communicator() const noexcept {
    return channel_->communicator();
  }

  /// Waits for all; simulated clocks are then at the latest of them.
  void synchronise(base::Clock& clock) {
    if (clock.is_simulated()) {
      clock.advance_to(maximum(clock.now_ns()));
    } else {
      barrier();
    }
  }
  /// The same, and all go on at the same moment, as far as each has a core.
  void start(base::Clock& clock) {
    if (clock.is_simulated()) {
      synchronise(clock);
    } else {
      channel_->meet(poll_);
    }
  }

  [[nodiscard]] std::int64_t clock_offset_ns(const base::Clock& clock,
                                             std::uint64_t& uncertainty_ns) {
    return channel_->clock_offset_ns(clock, uncertainty_ns);
  }
  [[nodiscard]] Counters& own_counters() noexcept { return channel_->own_counters(); }
  [[nodiscard]] std::span<Counters* const> visible_counters() noexcept {
    return channel_->visible_counters();
  }
  /// What a watching process wants this rank to report; false if there is nothing.
  bool take_notice(Notice& out) { return channel_->take_notice(out); }
  void abort(const base::Problem& problem) noexcept { channel_->abort(problem); }

 private:
  std::unique_ptr<Channel> channel_;
  Poll poll_;
};

}  // namespace venturi::comm

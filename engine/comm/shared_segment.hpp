// The memory that forked ranks share: where they wait for each other and hand over bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/channel.hpp"
#include "comm/message_slot.hpp"
#include "comm/problem_text.hpp"

namespace venturi::comm {

/// Anonymous shared memory of `ranks` processes; made before they are forked. It grows with the
/// ranks only, and what nobody touches costs nothing.
class SharedSegment {
 public:
  /// The bytes that one rank hands over at a time, to all or to one.
  static constexpr std::size_t kSlotBytes = 8192;
  static constexpr std::size_t kMailBytes = 131'072;
  /// Groups that can have the same first rank at the same time.
  static constexpr std::size_t kGatesPerRank = 32;
  /// Different events that ranks can be told of until they are forgotten.
  static constexpr std::size_t kMostEvents = 65'536;

  /// Where the ranks of one group wait for each other. The generation never goes back, so a gate
  /// can serve another group as soon as all have come to the last barrier of the one before.
  struct Gate {
    alignas(64) std::atomic<std::uint32_t> arrived = 0;
    alignas(64) std::atomic<std::uint32_t> generation = 0;
    std::atomic<std::uint32_t> sleepers = 0;
  };

  /// Throws base::Error when the memory cannot be had.
  explicit SharedSegment(std::size_t ranks);
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;
  ~SharedSegment();

  /// All ranks wait for each other. Throws when the group was aborted.
  void barrier(const Poll& poll) { pass(header_->gate, ranks_, poll); }
  /// `ranks` of them do so.
  void pass(Gate& gate, std::size_t ranks, const Poll& poll);
  /// They do so, and leave at the same moment if each has a core: all of them are awake by then.
  void meet(Gate& gate, std::size_t ranks, const Poll& poll);
  /// The gate of all ranks, and those whose use rank `first` decides about.
  [[nodiscard]] Gate& gate() noexcept { return header_->gate; }
  [[nodiscard]] Gate& gate(std::size_t first, std::size_t index) noexcept {
    return gates_[first * kGatesPerRank + index];
  }

  [[nodiscard]] std::byte* slot(std::size_t rank) noexcept;
  [[nodiscard]] std::byte* result() noexcept;
  [[nodiscard]] std::span<Counters> counters() noexcept;
  [[nodiscard]] MessageSlot& message_slot() noexcept { return header_->message_slot; }

  /// One rank hands bytes to another, which must fetch as many. Throw when the group was aborted.
  void post(std::size_t from, std::size_t to, std::span<const std::byte> data, const Poll& poll);
  void fetch(std::size_t from, std::size_t to, std::span<std::byte> data, const Poll& poll);

  /// Leaves a note in the box of process `to`, signed by the number that `from` has in their group;
  /// false if one is still in it.
  bool put_note(std::size_t from, std::size_t to, std::span<const std::byte> data) noexcept;
  /// Empties the box of process `rank`: who signed, or nothing.
  std::optional<std::size_t> take_note(std::size_t rank, std::vector<std::byte>& out);

  /// An event happened once more for a rank. Throws base::Error when there are too many kinds.
  void tell(std::size_t to, std::uint64_t event, std::uint64_t at_ns);
  [[nodiscard]] EventCount event_count(std::size_t rank, std::uint64_t event) const noexcept;
  /// Forgets all of that; to be called by one rank while no other tells.
  void forget_told() noexcept;

  /// The rank left in order: its end is not a loss.
  void leave(std::size_t rank) noexcept;
  [[nodiscard]] bool has_left(std::size_t rank) const noexcept;

  void abort(const base::Problem& problem) noexcept;
  [[nodiscard]] bool aborted() const noexcept;
  /// The problem of the first abort; only after `aborted`.
  [[nodiscard]] base::Problem problem() const;

 private:
  struct Header {
    Gate gate;
    /// 0 fine, 1 somebody is writing the problem, 2 it is written.
    alignas(64) std::atomic<std::uint32_t> abort_state = 0;
    ProblemText problem;
    MessageSlot message_slot;
    std::atomic<std::uint64_t> events = 0;
  };

  /// An event of one rank, in a table with as much room again.
  struct Event {
    /// 0: nothing.
    std::atomic<std::uint64_t> key = 0;
    std::atomic<std::uint64_t> times = 0;
    std::atomic<std::uint64_t> latest_ns = 0;
  };
  static constexpr std::size_t kEventPlaces = 2 * kMostEvents;

  /// What one rank hands to another.
  struct Mail {
    /// 0 nothing, else 1 + the rank for whom it is.
    alignas(64) std::atomic<std::uint32_t> receiver = 0;
    std::atomic<std::uint32_t> sleepers = 0;
  };

  /// Room for one note to a rank.
  struct Box {
    static constexpr std::uint32_t kEmpty = 0;
    static constexpr std::uint32_t kBusy = 1;
    static constexpr std::uint32_t kFull = 2;
    alignas(64) std::atomic<std::uint32_t> state = kEmpty;
    std::uint64_t from = 0;
    std::uint64_t bytes = 0;
  };

  /// Counts a rank in; what to wait for unless it was the last one.
  std::optional<std::uint32_t> arrive(Gate& gate, std::size_t ranks);
  void wait_while(std::atomic<std::uint32_t>& word, std::uint32_t value,
                  std::atomic<std::uint32_t>& sleepers, const Poll& poll);
  void check() const;

  std::size_t ranks_;
  std::size_t bytes_ = 0;
  std::byte* memory_ = nullptr;
  Header* header_ = nullptr;
  Counters* counters_ = nullptr;
  std::atomic<std::uint8_t>* left_ = nullptr;
  Gate* gates_ = nullptr;
  Mail* mails_ = nullptr;
  Event* events_ = nullptr;
  std::byte* result_ = nullptr;
  std::byte* slots_ = nullptr;
  std::byte* mail_data_ = nullptr;
  Box* boxes_ = nullptr;
  std::byte* notes_ = nullptr;
  /// Spinning helps only if every rank has a core of its own.
  bool spin_ = false;
  long sleep_ns_ = 0;
};

}  // namespace venturi::comm

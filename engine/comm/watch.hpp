// Looks at ranks from outside of their processes: who completes nothing, whose time is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "comm/channel.hpp"
#include "comm/notice.hpp"

namespace venturi::comm {

/// Before the path of a phase in what a rank is doing.
inline constexpr std::string_view kPhaseWord = "phase ";
/// What a rank is doing that takes away what the run made: nothing is measured meanwhile, and file
/// systems may first write out what is in their memory.
inline constexpr std::string_view kRemoving = "removing files";

/// Where a rank is, in the fixed memory of its counters; longer texts are cut. Written by the rank
/// before it starts something, read by others once it is silent.
void set_doing(Counters& counters, std::string_view text) noexcept;
[[nodiscard]] std::string doing_of(const Counters& counters);

/// From here on the counters are those of a rank at work.
void enter(Counters& counters, std::size_t rank) noexcept;

/// The heartbeat and the deadlines of the ranks of one node. It is used by a process that does
/// nothing else, so that a rank needs no second thread and a stopped one is seen all the same.
class Watch {
 public:
  struct Settings {
    std::string host;
    /// A rank that gives no sign of life for this long is reported; 0: never.
    std::uint64_t stall_ns = 0;
    /// When the run must be over, on CLOCK_MONOTONIC; 0: whenever.
    std::uint64_t deadline_ns = 0;
  };
  using Tell = std::function<void(const Notice&)>;

  Watch(std::span<const Counters> ranks, Settings settings);

  /// To be called a few times a second. Says which ranks fell silent and which came back.
  void look(std::uint64_t now_ns, const Tell& tell);
  /// What to end the run with if a deadline is over: names the ranks that are silent.
  [[nodiscard]] std::optional<base::Problem> overdue(std::uint64_t now_ns) const;
  /// Whether a rank has been silent for a second or more; one that left is not.
  [[nodiscard]] bool is_silent(std::size_t rank, std::uint64_t now_ns) const;

 private:
  /// What was last seen of a rank.
  struct LastSign {
    std::uint64_t signs = 0;
    std::uint64_t since_ns = 0;
    /// How long the silence was when it was last reported.
    std::uint64_t told_ns = 0;
    /// Then it was removing files.
    bool removing = false;
  };

  void observe(std::uint64_t now_ns, std::uint64_t gap_ns, std::vector<std::size_t>& back);
  std::uint64_t gap_before(std::uint64_t now_ns) noexcept;
  void tell_of_silence(std::uint64_t now_ns, const Tell& tell);
  void name_silent(const std::vector<std::size_t>& silent, const Tell& tell) const;
  /// In one line for all: they mostly wait for the same thing.
  void tell_of_removal(std::uint64_t now_ns, const Tell& tell);
  [[nodiscard]] std::string name_of(std::size_t rank) const;
  [[nodiscard]] std::string silent_ranks(std::uint64_t now_ns, std::string& where) const;

  std::span<const Counters> ranks_;
  Settings settings_;
  std::vector<LastSign> last_signs_;
  std::uint64_t last_look_ns_ = 0;
  /// The same on the clock that also counts while the machine sleeps.
  std::uint64_t last_boot_ns_ = 0;
};

}  // namespace venturi::comm

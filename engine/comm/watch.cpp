// Signs of life are sums of counters: what changed since the last look is alive.
#include "comm/watch.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/clock.hpp"

namespace venturi::comm {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
/// At a deadline a rank is called silent after this long.
constexpr std::uint64_t kSilentNs = kSecondNs;
/// If the watching process itself did not run for this long, it cannot tell who was silent.
constexpr std::uint64_t kOwnGapNs = kSecondNs;
constexpr std::size_t kMostNamed = 8;

bool is_at_work(const Counters& counters) noexcept {
  return counters.state.load(std::memory_order_acquire) == Counters::kAtWork;
}

/// Grows with whatever a rank does, be it waiting.
std::uint64_t signs_of(const Counters& counters) noexcept {
  return counters.beats.load(kRelaxed) + counters.operations.load(kRelaxed);
}

std::string seconds_text(std::uint64_t ns) { return fmt::format("{:.3g} s", base::seconds(ns)); }

}  // namespace

void set_doing(Counters& counters, std::string_view text) noexcept {
  std::array<char, sizeof counters.doing> bytes{};
  std::memcpy(bytes.data(), text.data(), std::min(text.size(), bytes.size() - 1));
  for (std::size_t i = 0; i < counters.doing.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
    counters.doing[i].store(word, kRelaxed);
  }
}

std::string doing_of(const Counters& counters) {
  std::array<char, sizeof counters.doing + 1> bytes{};
  for (std::size_t i = 0; i < counters.doing.size(); ++i) {
    const std::uint64_t word = counters.doing[i].load(kRelaxed);
    std::memcpy(bytes.data() + i * sizeof word, &word, sizeof word);
  }
  return bytes.data();
}

void enter(Counters& counters, std::size_t rank) noexcept {
  counters.rank.store(rank, kRelaxed);
  counters.process.store(static_cast<std::uint64_t>(getpid()), kRelaxed);
  set_doing(counters, "before the first phase");
  counters.state.store(Counters::kAtWork, std::memory_order_release);
}

Watch::Watch(std::span<const Counters> ranks, Settings settings)
    : ranks_(ranks), settings_(std::move(settings)), last_signs_(ranks.size()) {}

void Watch::look(std::uint64_t now_ns, const Tell& tell) {
  std::vector<std::size_t> back;
  const std::uint64_t gap_ns = gap_before(now_ns);
  if (gap_ns > kOwnGapNs && std::any_of(ranks_.begin(), ranks_.end(), is_at_work)) {
    tell({.text = fmt::format("nobody ran on {} for {}, not even the process that watches: they "
                              "were stopped, or the machine slept or had no time for them; what "
                              "was measured meanwhile says nothing about the storage",
                              settings_.host, seconds_text(gap_ns)),
          .stopped_s = base::seconds(gap_ns)});
  }
  observe(now_ns, gap_ns, back);
  for (const std::size_t rank : back) {
    if (!last_signs_[rank].removing) {
      tell({fmt::format("{} goes on after a silence of {}", name_of(rank),
                        seconds_text(now_ns - last_signs_[rank].since_ns))});
    }
    last_signs_[rank] = {signs_of(ranks_[rank]), now_ns, 0, false};
  }
  if (settings_.stall_ns > 0) tell_of_silence(now_ns, tell);
}

/// How long ago the last look was; while a machine sleeps only one of the two clocks goes on.
std::uint64_t Watch::gap_before(std::uint64_t now_ns) noexcept {
  timespec boot{};
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  const std::uint64_t boot_ns = static_cast<std::uint64_t>(boot.tv_sec) * kSecondNs +
                                static_cast<std::uint64_t>(boot.tv_nsec);
  const std::uint64_t gap_ns =
      last_look_ns_ == 0 ? 0 : std::max(now_ns - last_look_ns_, boot_ns - last_boot_ns_);
  last_look_ns_ = now_ns;
  last_boot_ns_ = boot_ns;
  return gap_ns;
}

void Watch::observe(std::uint64_t now_ns, std::uint64_t gap, std::vector<std::size_t>& back) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    LastSign& seen = last_signs_[rank];
    const std::uint64_t signs = signs_of(ranks_[rank]);
    if (gap > kOwnGapNs) seen.since_ns += std::min(gap, now_ns - seen.since_ns);
    if (signs == seen.signs && seen.since_ns != 0 && is_at_work(ranks_[rank])) continue;
    if (seen.told_ns != 0 && is_at_work(ranks_[rank])) {
      back.push_back(rank);
    } else {
      seen = {signs, now_ns, 0, false};
    }
  }
}

void Watch::tell_of_silence(std::uint64_t now_ns, const Tell& tell) {
  std::vector<std::size_t> silent;
  bool removes = false;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    LastSign& seen = last_signs_[rank];
    const std::uint64_t silence = now_ns - seen.since_ns;
    // Once more after twice the time, and so on: a dead storage does not fill the screen.
    if (!is_at_work(ranks_[rank]) || silence < std::max(settings_.stall_ns, 2 * seen.told_ns)) {
      continue;
    }
    if (doing_of(ranks_[rank]) == kRemoving) {
      removes = true;
      continue;
    }
    seen.told_ns = silence;
    seen.removing = false;
    silent.push_back(rank);
  }
  name_silent(silent, tell);
  if (removes) tell_of_removal(now_ns, tell);
}

void Watch::name_silent(const std::vector<std::size_t>& silent, const Tell& tell) const {
  for (std::size_t i = 0; i < std::min(silent.size(), kMostNamed); ++i) {
    const LastSign& seen = last_signs_[silent[i]];
    tell({fmt::format("{}: no completion for {} ({})", name_of(silent[i]),
                      seconds_text(seen.told_ns), doing_of(ranks_[silent[i]]))});
  }
  if (silent.size() > kMostNamed) {
    tell({fmt::format("{} more ranks on {}: no completion for {} or more",
                      silent.size() - kMostNamed, settings_.host,
                      seconds_text(settings_.stall_ns))});
  }
}

void Watch::tell_of_removal(std::uint64_t now_ns, const Tell& tell) {
  std::size_t longest = ranks_.size();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!is_at_work(ranks_[rank]) || doing_of(ranks_[rank]) != kRemoving) continue;
    LastSign& seen = last_signs_[rank];
    seen.told_ns = now_ns - seen.since_ns;
    seen.removing = true;
    if (longest == ranks_.size() || seen.told_ns > last_signs_[longest].told_ns) longest = rank;
  }
  if (longest == ranks_.size()) return;
  tell({fmt::format("still removing files on {}: rank {} has waited {} for one to go (nothing is "
                    "measured now; a file system may first write out what is in its memory)",
                    settings_.host, ranks_[longest].rank.load(kRelaxed),
                    seconds_text(last_signs_[longest].told_ns)),
        false});
}

bool Watch::is_silent(std::size_t rank, std::uint64_t now_ns) const {
  const LastSign& seen = last_signs_[rank];
  return is_at_work(ranks_[rank]) && seen.since_ns != 0 && now_ns - seen.since_ns >= kSilentNs;
}

std::string Watch::name_of(std::size_t rank) const {
  return fmt::format("rank {} on {}", ranks_[rank].rank.load(kRelaxed), settings_.host);
}

std::string Watch::silent_ranks(std::uint64_t now_ns, std::string& where) const {
  std::string text;
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!is_silent(rank, now_ns)) continue;
    if (++count > kMostNamed) continue;
    const std::string doing = doing_of(ranks_[rank]);
    if (count == 1) where = doing;
    text += fmt::format("{}{} completed nothing for {} ({})", count == 1 ? "" : ", ", name_of(rank),
                        seconds_text(now_ns - last_signs_[rank].since_ns), doing);
  }
  if (count > kMostNamed) text += fmt::format(", and {} more", count - kMostNamed);
  return text;
}

std::optional<base::Problem> Watch::overdue(std::uint64_t now_ns) const {
  std::string where;
  std::string what;
  for (const Counters& counters : ranks_) {
    const std::uint64_t deadline = counters.deadline_ns.load(kRelaxed);
    if (!is_at_work(counters) || deadline == 0 || now_ns < deadline) continue;
    where = doing_of(counters);
    what = where + " was not over at its deadline";
    break;
  }
  if (what.empty() && settings_.deadline_ns != 0 && now_ns >= settings_.deadline_ns) {
    const bool any = std::any_of(ranks_.begin(), ranks_.end(), is_at_work);
    if (any) what = "the run was not over at its deadline";
  }
  if (what.empty()) return std::nullopt;
  const std::string silent = silent_ranks(now_ns, where);
  if (where.starts_with(kPhaseWord)) where.erase(0, kPhaseWord.size());
  return base::Problem{
      .code = "deadline",
      .message = fmt::format("{}: {}", what,
                             silent.empty()
                                 ? fmt::format("all ranks on {} were still at work", settings_.host)
                                 : silent),
      .hint = silent.empty()
                  ? "allow more time, or do less"
                  : "look at the storage and at that host; nobody can wait for this rank",
      .where = where,
      .exit_code = base::kExitFailed};
}

}  // namespace venturi::comm

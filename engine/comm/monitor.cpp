// One look every tenth of a second; everything it waits for has a bound.
#include "comm/monitor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "comm/host.hpp"

namespace venturi::comm {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
/// How long the others have to leave once the group broke, and once a deadline broke it.
constexpr std::uint64_t kGraceNs = 5 * kSecondNs;
constexpr std::uint64_t kShortGraceNs = kSecondNs;
/// A process that lives this long after SIGKILL hangs inside the kernel.
constexpr std::uint64_t kKillNs = 3 * kSecondNs;

std::uint64_t ns_of(double seconds) { return static_cast<std::uint64_t>(seconds * base::kNsPerS); }

Watch::Settings settings_of(const Launch& how) {
  const std::uint64_t deadline = how.deadline_s ? base::monotonic_ns() + ns_of(*how.deadline_s) : 0;
  return {.host = host_name(), .stall_ns = ns_of(how.stall_s), .deadline_ns = deadline};
}

}  // namespace

Monitor::Monitor(SharedSegment& segment, const Launch& how)
    : segment_(segment),
      how_(how),
      watch_(segment.counters(), settings_of(how)),
      notifier_(segment.message_slot(), segment.counters()[0], how.on_notice),
      pids_(how.ranks, 0) {}

void Monitor::start(const std::function<void(std::size_t)>& be) {
  const pid_t parent = getpid();
  std::fflush(nullptr);
  // Ranks begin when all are there: those that wait for each other would slow the forks down.
  std::array<int, 2> gate{-1, -1};
  const bool gated = ::pipe2(gate.data(), O_CLOEXEC) == 0;
  for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(base::kExitFailed);
      if (gated) {
        ::close(gate[1]);
        char nothing = 0;
        while (::read(gate[0], &nothing, 1) < 0 && errno == EINTR) continue;
        ::close(gate[0]);
      }
      be(rank);
      _exit(base::kExitFailed);
    }
    if (pid < 0) {
      segment_.abort({.code = "ranks",
                      .message = fmt::format("could not start rank {} of {}: {}", rank,
                                             pids_.size(), std::strerror(errno)),
                      .hint = "use fewer ranks, or raise the limit of processes (ulimit -u)"});
      break;
    }
    pids_[rank] = pid;
  }
  for (const int end : gate) {
    if (end >= 0) ::close(end);
  }
}

int Monitor::wait() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, number);
  watch();  // from here on a gap is seen
  while (reap() > 0) {
    const timespec limit{.tv_sec = 0, .tv_nsec = 100'000'000};
    const int number = sigtimedwait(&signals, nullptr, &limit);
    if (number == SIGINT || number == SIGTERM) pass_on(number);
    watch();
    if (segment_.aborted() && enforce_end()) break;
  }
  notifier_.flush();
  return code_;
}

std::string Monitor::unkillable() const {
  std::string text;
  for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
    if (pids_[rank] == 0) continue;
    text += fmt::format("{}rank {} (process {})", text.empty() ? "" : ", ", rank, pids_[rank]);
  }
  return text;
}

std::size_t Monitor::reap() {
  std::size_t running = 0;
  for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
    if (pids_[rank] == 0) continue;
    int status = 0;
    if (waitpid(pids_[rank], &status, WNOHANG) != pids_[rank]) {
      ++running;
      continue;
    }
    pids_[rank] = 0;
    segment_.counters()[rank].state.store(Counters::kLeft, std::memory_order_release);
    if (segment_.has_left(rank) && WIFEXITED(status)) {
      code_ = std::max(code_, WEXITSTATUS(status));
    } else {
      lose(rank, status);
    }
  }
  return running;
}

void Monitor::lose(std::size_t rank, int status) {
  const std::string how = WIFSIGNALED(status)
                              ? fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                                            strsignal(WTERMSIG(status)))
                              : fmt::format("ended with code {}", WEXITSTATUS(status));
  segment_.abort({.code = "lost_rank", .message = fmt::format("rank {} {}", rank, how)});
}

void Monitor::pass_on(int number) const {
  for (const pid_t pid : pids_) {
    if (pid != 0) kill(pid, number);
  }
}

void Monitor::watch() {
  const std::uint64_t now = base::monotonic_ns();
  watch_.look(now, [this](const Notice& notice) { notifier_.add(notice); });
  if (!segment_.aborted()) {
    if (const auto problem = watch_.overdue(now)) {
      overdue_ = true;
      segment_.abort(*problem);
    }
  }
  if (pids_[0] != 0) notifier_.tell(watch_, now);
}

bool Monitor::enforce_end() {
  const std::uint64_t now = base::monotonic_ns();
  if (aborted_ns_ == 0) aborted_ns_ = now;
  const std::uint64_t grace = overdue_ ? kShortGraceNs : kGraceNs;
  if (now - aborted_ns_ > grace) pass_on(SIGKILL);
  return now - aborted_ns_ > grace + kKillNs;
}

}  // namespace venturi::comm

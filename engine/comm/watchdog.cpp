// It sleeps in poll() on a pipe to its rank, so it knows at once when that one is gone.
#include "comm/watchdog.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "comm/launcher_environment.hpp"
#include "comm/notifier.hpp"
#include "comm/watch.hpp"

namespace venturi::comm {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr int kLookMs = 100;
/// Once the work of all is ended: when the watchdog reports in place of a silent rank 0, and, after
/// a deadline, when it kills what is left. In between the ranks that live end the job with the
/// right exit code.
constexpr std::uint64_t kReportNs = 2 * kSecondNs;
constexpr std::uint64_t kKillNs = 12 * kSecondNs;
/// The same for ranks whose launcher is gone: nobody waits for what they could still say.
constexpr std::uint64_t kOrphanNs = 4 * kSecondNs;

/// The parent of a process; 0 if it is gone.
pid_t parent_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // Behind the program's name, which may hold anything: the state, then the parent.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > text.size()) return 0;
  return static_cast<pid_t>(std::strtol(text.c_str() + name_end + 4, nullptr, 10));
}

/// What the rank tells, in one write.
struct Orders {
  std::array<char, 64> shared_page{};
  std::array<char, 256> host{};
  std::uint64_t ranks = 0;
  std::uint64_t has_rank_0 = 0;
};

/// The watchdog's life; it ends by `_exit` only.
class Guard {
 public:
  /// `launcher` is the process that started the rank.
  Guard(const Launch& how, int pipe, pid_t launcher)
      : how_(how), pipe_(pipe), rank_process_(getppid()), launcher_(launcher) {
    const double seconds = how.deadline_s.value_or(0.0);
    deadline_ns_ = how.deadline_s
                       ? base::monotonic_ns() + static_cast<std::uint64_t>(seconds * base::kNsPerS)
                       : 0;
  }

  [[noreturn]] void live() {
    const Orders orders = wait_for_orders();
    SharedPage shared_page(orders.shared_page.data(), orders.ranks);
    // That it has opened the board lets its rank forget the name.
    const char ready = 1;
    if (::write(pipe_, &ready, 1) != 1) _exit(0);
    Watch watch(shared_page.counters(),
                {.host = orders.host.data(),
                 .stall_ns = static_cast<std::uint64_t>(how_.stall_s * base::kNsPerS),
                 .deadline_ns = deadline_ns_});
    if (orders.has_rank_0 != 0) {
      Notifier notifier(shared_page.message_slot(), shared_page.counters()[0], how_.on_notice);
      look_on(shared_page, watch, &notifier);
    }
    look_on(shared_page, watch, nullptr);
  }

 private:
  /// Sleeps until the next look; does not return if the rank is gone.
  bool sleep() const {
    pollfd waiting{.fd = pipe_, .events = POLLIN, .revents = 0};
    return ::poll(&waiting, 1, kLookMs) > 0;
  }

  Orders wait_for_orders() const {
    Orders orders;
    while (!sleep()) {
      if (deadline_ns_ == 0 || base::monotonic_ns() < deadline_ns_) continue;
      fmt::print(stderr, "venturi-engine: MPI did not start before the deadline\n");
      ::kill(rank_process_, SIGKILL);
      _exit(0);
    }
    if (::read(pipe_, &orders, sizeof orders) != sizeof orders) _exit(0);
    return orders;
  }

  [[noreturn]] void look_on(SharedPage& shared_page, Watch& watch, Notifier* notifier) {
    watch.look(base::monotonic_ns(), [](const Notice&) {});  // from here on a gap is seen
    while (!sleep()) {
      const std::uint64_t now = base::monotonic_ns();
      watch.look(now, [&](const Notice& notice) {
        if (notifier != nullptr) {
          notifier->add(notice);
        } else {
          // Only the node of rank 0 may write to stdout.
          fmt::print(stderr, "venturi-engine{}: {}\n", notice.is_warning ? " warning" : " remark",
                     notice.text);
        }
      });
      if (broken_ns_ != 0) {
        end(shared_page, watch, notifier, now);
      } else if (notifier != nullptr) {
        notifier->tell(watch, now);
      }
      look_at_end(shared_page, watch, now);
    }
    _exit(0);
  }

  /// Whether the launcher died and left the ranks behind; looked at once a second.
  bool is_orphaned(std::uint64_t now) {
    if (now < next_parent_look_ns_) return false;
    next_parent_look_ns_ = now + kSecondNs;
    return parent_of(rank_process_) != launcher_;
  }

  /// Whether the work of all is to be ended, or has been.
  void look_at_end(SharedPage& shared_page, const Watch& watch, std::uint64_t now) {
    if (!is_overdue_ && is_orphaned(now)) {
      is_overdue_ = true;
      kill_ns_ = kOrphanNs;
      broken_ns_ = now;
      shared_page.abort({.code = "lost_launcher",
                         .message = "the process that started the ranks of a node is gone",
                         .exit_code = base::kExitFailed});
    }
    if (const auto problem = is_overdue_ ? std::nullopt : watch.overdue(now)) {
      is_overdue_ = true;
      broken_ns_ = now;
      shared_page.abort(*problem);
    }
    if (broken_ns_ == 0 && shared_page.aborted()) broken_ns_ = now;
  }

  void end(SharedPage& shared_page, const Watch& watch, Notifier* notifier,
           std::uint64_t now) const {
    const std::uint64_t since = now - broken_ns_;
    if (notifier != nullptr && since > kReportNs && watch.is_silent(0, now)) {
      shared_page.report([&] {
        notifier->flush();
        how_.on_broken(shared_page.problem());
      });
    }
    // Before a deadline the ranks end the job themselves, however long removing files takes.
    if (!is_overdue_ || since < kill_ns_) return;
    for (const Counters& counters : shared_page.counters()) {
      const auto process = static_cast<pid_t>(counters.process.load());
      if (process > 0 && process != rank_process_) ::kill(process, SIGKILL);
    }
    ::kill(rank_process_, SIGKILL);
    _exit(0);
  }

  const Launch& how_;
  int pipe_;
  pid_t rank_process_;
  pid_t launcher_;
  std::uint64_t next_parent_look_ns_ = 0;
  std::uint64_t deadline_ns_ = 0;
  /// Since when the work of all is ended, at a deadline or by a rank; 0: it goes on.
  std::uint64_t broken_ns_ = 0;
  bool is_overdue_ = false;
  std::uint64_t kill_ns_ = kKillNs;
};

/// What the rank has open is not the watchdog's: sockets of the launcher, locks.
void keep_only(int descriptor) {
  const int kept = ::dup2(descriptor, STDERR_FILENO + 1);
  ::syscall(SYS_close_range, static_cast<unsigned>(kept) + 1, ~0U, 0U);
}

}  // namespace

Watchdog::Watchdog(const Launch& how) {
  const auto launcher = detect_launcher();
  if (launcher && launcher->local_rank.value_or(0) != 0) return;
  std::array<int, 2> ends{};
  // A socket, because it goes both ways. The rank's end must not stay open in the watchdog.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  orders_ = base::Descriptor(ends[0]);
  const base::Descriptor theirs(ends[1]);
  std::fflush(nullptr);
  const pid_t launcher_process = ::getppid();
  process_ = ::fork();
  if (process_ != 0) return;
  ::prctl(PR_SET_NAME, "venturi-watch");
  keep_only(theirs.get());
  try {
    Guard(how, STDERR_FILENO + 1, launcher_process).live();
  } catch (const std::exception& error) {
    fmt::print(stderr, "venturi-engine warning: nobody watches this node: {}\n", error.what());
  }
  _exit(0);
}

void Watchdog::watch(const SharedPage& shared_page, std::size_t ranks, const std::string& host,
                     bool has_rank_0) {
  Orders orders;
  std::memcpy(orders.shared_page.data(), shared_page.name().data(),
              std::min(shared_page.name().size(), orders.shared_page.size() - 1));
  std::memcpy(orders.host.data(), host.data(), std::min(host.size(), orders.host.size() - 1));
  orders.ranks = ranks;
  orders.has_rank_0 = static_cast<std::uint64_t>(has_rank_0);
  char ready = 0;
  const bool sent = ::write(orders_.get(), &orders, sizeof orders) == sizeof orders;
  if (sent && ::read(orders_.get(), &ready, 1) == 1) return;
  fmt::print(stderr, "venturi-engine warning: nobody watches the ranks on {}\n", host);
  dismiss();
}

void Watchdog::dismiss() noexcept {
  orders_ = base::Descriptor();
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

}  // namespace venturi::comm

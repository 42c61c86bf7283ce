// The thread beside the operations.
#include "probe/companion.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>

#include "base/error.hpp"

namespace venturi::probe {
namespace {

constexpr std::uint64_t kGraceNs = 5'000'000'000;

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

}  // namespace

Companion::Companion(Ring& ring) : ring_(ring) {
  const sigset_t signals = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  thread_ = std::thread(&Companion::work, this);
}

Companion::~Companion() {
  over_ = true;
  // The thread waits for a signal; this one is blocked everywhere else.
  ::pthread_kill(thread_.native_handle(), SIGHUP);
  thread_.join();
}

void Companion::sleep_until(std::uint64_t monotonic_ns) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until{std::chrono::nanoseconds(monotonic_ns)};
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, until, [this] { return stop_.load(); });
}

void Companion::work() {
  const sigset_t signals = ending_signals();
  std::uint64_t asked_ns = 0;
  while (!over_) {
    const timespec pause{.tv_sec = 1, .tv_nsec = 0};
    const int number = ::sigtimedwait(&signals, nullptr, &pause);
    if (over_) return;
    const std::uint64_t now = base::monotonic_ns();
    ring_.touch(now, realtime_ns());
    ring_.flush();
    if (number > 0 && asked_ns == 0) {
      asked_ns = now;
      const std::lock_guard lock(mutex_);
      stop_ = true;
      wake_.notify_all();
    }
    if (asked_ns != 0 && now - asked_ns > kGraceNs) leave_hung();
  }
}

void Companion::leave_hung() {
  ring_.header().state = State::kStoppedHung;
  ring_.touch(base::monotonic_ns(), realtime_ns());
  ring_.flush();
  ::_exit(base::kExitFailed);
}

}  // namespace venturi::probe

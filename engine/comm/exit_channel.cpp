// A pipe tells how much of it is unread; what is read may still be on its way.
#include "comm/exit_channel.hpp"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/clock.hpp"

namespace venturi::comm {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kReadNs = 3 * kSecondNs;
constexpr std::uint64_t kPassOnNs = kSecondNs / 5;
constexpr std::uint64_t kPollNs = kSecondNs / 100;

}  // namespace

void pause_for(std::uint64_t ns) noexcept {
  const timespec pause{.tv_sec = static_cast<time_t>(ns / kSecondNs),
                       .tv_nsec = static_cast<long>(ns % kSecondNs)};
  ::nanosleep(&pause, nullptr);
}

void let_output_arrive() noexcept {
  std::fflush(nullptr);
  const std::uint64_t end = base::monotonic_ns() + kReadNs;
  constexpr std::array kOutputs{STDOUT_FILENO, STDERR_FILENO};
  for (const int output : kOutputs) {
    int unread_bytes = 0;
    while (::ioctl(output, FIONREAD, &unread_bytes) == 0 && unread_bytes > 0 &&
           base::monotonic_ns() < end) {
      pause_for(kPollNs);
    }
  }
  pause_for(kPassOnNs);
}

}  // namespace venturi::comm

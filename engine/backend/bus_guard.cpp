// The handler jumps back to the copy that was interrupted, which holds nothing to clean up.
#include "backend/bus_guard.hpp"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>

namespace venturi::backend {
namespace {

/// Where to go on after a SIGBUS; null outside a copy. Handlers can reach nothing but statics.
thread_local sigjmp_buf* landing = nullptr;

struct sigaction& earlier() {
  static struct sigaction action{};
  return action;
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  if (landing != nullptr) siglongjmp(*landing, 1);
  const struct sigaction& before = earlier();
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(number, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    return before.sa_handler(number);
  }
  ::signal(SIGBUS, SIG_DFL);  // the instruction is done again and ends the process
}

bool install() {
  struct sigaction action{};
  action.sa_sigaction = on_bus_error;
  // The jump out of the handler must not leave the signal blocked.
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, &earlier()) == 0;
}

}  // namespace

void install_bus_guard() { [[maybe_unused]] static const bool done = install(); }

bool copy_guarded(void* to, const void* from, std::size_t bytes) noexcept {
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    landing = nullptr;
    return false;
  }
  landing = &here;
  // The compiler does not know that a copy can lead into the handler.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(to, from, bytes);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  landing = nullptr;
  return true;
}

}  // namespace venturi::backend

// Barrier by counting and a futex: ranks sleep, because there may be more of them than cores.
#include "comm/shared_segment.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <thread>

#include "base/cycle_counter.hpp"

namespace venturi::comm {
namespace {

constexpr long kSleepNs = 5'000'000;
constexpr int kSpins = 2000;
constexpr int kYields = 4;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  const timespec limit{.tv_sec = 0, .tv_nsec = kSleepNs};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::size_t round_up(std::size_t bytes) noexcept { return (bytes + 4095) / 4096 * 4096; }

}  // namespace

SharedSegment::SharedSegment(std::size_t ranks)
    : ranks_(ranks), spin_(ranks <= std::thread::hardware_concurrency()) {
  const std::size_t header_bytes = round_up(sizeof(Header));
  const std::size_t counter_bytes = round_up(ranks * sizeof(Counters));
  const std::size_t left_bytes = round_up(ranks);
  bytes_ = header_bytes + counter_bytes + left_bytes + kSlotBytes * (ranks + 1);
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw base::Error(
        {.code = "ranks",
         .message = fmt::format("no shared memory for {} ranks: {}", ranks, std::strerror(errno))});
  }
  memory_ = static_cast<std::byte*>(memory);
  header_ = new (memory_) Header;
  counters_ = new (memory_ + header_bytes) Counters[ranks];
  left_ = new (memory_ + header_bytes + counter_bytes) std::atomic<std::uint8_t>[ranks];
  result_ = memory_ + header_bytes + counter_bytes + left_bytes;
  slots_ = result_ + kSlotBytes;
}

SharedSegment::~SharedSegment() { munmap(memory_, bytes_); }

std::byte* SharedSegment::slot(std::size_t rank) noexcept { return slots_ + rank * kSlotBytes; }
std::byte* SharedSegment::result() noexcept { return result_; }
std::span<Counters> SharedSegment::counters() noexcept { return {counters_, ranks_}; }

void SharedSegment::leave(std::size_t rank) noexcept {
  left_[rank].store(1, std::memory_order_release);
}
bool SharedSegment::has_left(std::size_t rank) const noexcept {
  return left_[rank].load(std::memory_order_acquire) != 0;
}

void SharedSegment::barrier(const Poll& poll) {
  check();
  const std::uint32_t old = header_->generation.load(std::memory_order_acquire);
  if (header_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_) {
    header_->arrived.store(0, std::memory_order_relaxed);
    header_->generation.store(old + 1, std::memory_order_seq_cst);
    if (header_->sleepers.load(std::memory_order_seq_cst) > 0) wake_all(header_->generation);
    return;
  }
  wait_for_generation(old, poll);
}

void SharedSegment::wait_for_generation(std::uint32_t old, const Poll& poll) {
  const auto passed = [&] { return header_->generation.load(std::memory_order_seq_cst) != old; };
  for (int spin = 0; spin_ && spin < kSpins; ++spin) {
    if (passed()) return;
    base::relax();
  }
  for (int yield = 0; yield < kYields; ++yield) {
    if (passed()) return;
    sched_yield();
  }
  while (!passed()) {
    check();
    if (poll) poll();
    header_->sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!passed()) sleep_while(header_->generation, old);
    header_->sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
}

void SharedSegment::abort(const base::Problem& problem) noexcept {
  std::uint32_t fine = 0;
  if (!header_->abort_state.compare_exchange_strong(fine, 1)) return;
  header_->problem.set(problem);
  header_->abort_state.store(2, std::memory_order_release);
  wake_all(header_->generation);
}

bool SharedSegment::aborted() const noexcept {
  return header_->abort_state.load(std::memory_order_acquire) == 2;
}

base::Problem SharedSegment::problem() const { return header_->problem.get(); }

void SharedSegment::check() const {
  if (aborted()) throw base::Broken(problem());
}

}  // namespace venturi::comm

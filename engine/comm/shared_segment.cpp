// Barriers by counting and a futex: ranks sleep, because there may be more of them than cores.
#include "comm/shared_segment.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <thread>

#include "base/cycle_counter.hpp"
#include "base/random.hpp"
#include "comm/back_off.hpp"

namespace venturi::comm {
namespace {

/// Sleepers wake up by themselves to give a sign of life: all of a core's ranks together no more
/// often than this, and each of them often enough not to be called silent.
constexpr long kLeastSleepNs = 5'000'000;
constexpr long kSleepNsPerRank = 1'000'000;
constexpr long kMostSleepNs = 250'000'000;
constexpr int kSpins = 2000;
constexpr int kYields = 4;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

long sleep_ns(std::size_t ranks) noexcept {
  const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  return std::clamp(static_cast<long>(ranks / cores) * kSleepNsPerRank, kLeastSleepNs,
                    kMostSleepNs);
}

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value, long ns) noexcept {
  const timespec limit{.tv_sec = 0, .tv_nsec = ns};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Never 0, which marks a free place.
std::uint64_t event_key(std::size_t rank, std::uint64_t event) noexcept {
  return base::combine(event, rank) | 1U;
}

std::size_t round_up(std::size_t bytes) noexcept { return (bytes + 4095) / 4096 * 4096; }

}  // namespace

SharedSegment::SharedSegment(std::size_t ranks)
    : ranks_(ranks),
      spin_(ranks <= std::thread::hardware_concurrency()),
      sleep_ns_(sleep_ns(ranks)) {
  std::size_t at = 0;
  const auto take = [&](std::size_t bytes) {
    const std::size_t begin = at;
    at += round_up(bytes);
    return begin;
  };
  const std::size_t header = take(sizeof(Header));
  const std::size_t counters = take(ranks * sizeof(Counters));
  const std::size_t left = take(ranks);
  const std::size_t gates = take(ranks * kGatesPerRank * sizeof(Gate));
  const std::size_t mails = take(ranks * sizeof(Mail));
  const std::size_t events = take(kEventPlaces * sizeof(Event));
  const std::size_t result = take(kSlotBytes);
  const std::size_t slots = take(ranks * kSlotBytes);
  const std::size_t mail_data = take(ranks * kMailBytes);
  const std::size_t boxes = take(ranks * sizeof(Box));
  const std::size_t notes = take(ranks * kMostNoteBytes);
  bytes_ = at;
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw base::Error(
        {.code = "ranks",
         .message = fmt::format("no shared memory for {} ranks: {}", ranks, std::strerror(errno))});
  }
  // The memory is zeros, which is what gates, mails and events begin with; they stay untouched
  // until used.
  memory_ = static_cast<std::byte*>(memory);
  header_ = new (memory_ + header) Header;
  counters_ = new (memory_ + counters) Counters[ranks];
  left_ = new (memory_ + left) std::atomic<std::uint8_t>[ranks];
  gates_ = reinterpret_cast<Gate*>(memory_ + gates);
  mails_ = reinterpret_cast<Mail*>(memory_ + mails);
  events_ = reinterpret_cast<Event*>(memory_ + events);
  result_ = memory_ + result;
  slots_ = memory_ + slots;
  mail_data_ = memory_ + mail_data;
  boxes_ = reinterpret_cast<Box*>(memory_ + boxes);
  notes_ = memory_ + notes;
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

void SharedSegment::pass(Gate& gate, std::size_t ranks, const Poll& poll) {
  if (const auto old = arrive(gate, ranks)) {
    wait_while(gate.generation, *old, gate.sleepers, poll);
  }
}

void SharedSegment::meet(Gate& gate, std::size_t ranks, const Poll& poll) {
  pass(gate, ranks, poll);
  const auto old = arrive(gate, ranks);
  if (!old) return;
  BackOff awake(spin_ ? kMeetNs : 0);
  while (gate.generation.load(std::memory_order_acquire) == *old) {
    if (awake.idle()) return wait_while(gate.generation, *old, gate.sleepers, poll);
    awake.wait();
  }
}

std::optional<std::uint32_t> SharedSegment::arrive(Gate& gate, std::size_t ranks) {
  check();
  const std::uint32_t old = gate.generation.load(std::memory_order_acquire);
  if (gate.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < ranks) return old;
  gate.arrived.store(0, std::memory_order_relaxed);
  gate.generation.store(old + 1, std::memory_order_seq_cst);
  if (gate.sleepers.load(std::memory_order_seq_cst) > 0) wake_all(gate.generation);
  return std::nullopt;
}

void SharedSegment::wait_while(std::atomic<std::uint32_t>& word, std::uint32_t value,
                               std::atomic<std::uint32_t>& sleepers, const Poll& poll) {
  const auto passed = [&] { return word.load(std::memory_order_seq_cst) != value; };
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
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!passed()) sleep_while(word, value, sleep_ns_);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
}

void SharedSegment::post(std::size_t from, std::size_t to, std::span<const std::byte> data,
                         const Poll& poll) {
  Mail& mail = mails_[from];
  const auto receiver = static_cast<std::uint32_t>(to + 1);
  for (std::size_t begin = 0; begin < data.size(); begin += kMailBytes) {
    check();
    const std::size_t length = std::min(kMailBytes, data.size() - begin);
    std::memcpy(mail_data_ + from * kMailBytes, &data[begin], length);
    mail.receiver.store(receiver, std::memory_order_seq_cst);
    if (mail.sleepers.load(std::memory_order_seq_cst) > 0) wake_all(mail.receiver);
    wait_while(mail.receiver, receiver, mail.sleepers, poll);
  }
}

void SharedSegment::fetch(std::size_t from, std::size_t to, std::span<std::byte> data,
                          const Poll& poll) {
  Mail& mail = mails_[from];
  const auto receiver = static_cast<std::uint32_t>(to + 1);
  for (std::size_t begin = 0; begin < data.size(); begin += kMailBytes) {
    check();
    for (std::uint32_t other = mail.receiver.load(); other != receiver;
         other = mail.receiver.load()) {
      wait_while(mail.receiver, other, mail.sleepers, poll);
    }
    const std::size_t length = std::min(kMailBytes, data.size() - begin);
    std::memcpy(&data[begin], mail_data_ + from * kMailBytes, length);
    mail.receiver.store(0, std::memory_order_seq_cst);
    if (mail.sleepers.load(std::memory_order_seq_cst) > 0) wake_all(mail.receiver);
  }
}

bool SharedSegment::put_note(std::size_t from, std::size_t to,
                             std::span<const std::byte> data) noexcept {
  Box& box = boxes_[to];
  std::uint32_t empty = Box::kEmpty;
  if (!box.state.compare_exchange_strong(empty, Box::kBusy, std::memory_order_acq_rel))
    return false;
  std::memcpy(notes_ + to * kMostNoteBytes, data.data(), data.size());
  box.from = from;
  box.bytes = data.size();
  box.state.store(Box::kFull, std::memory_order_release);
  return true;
}

std::optional<std::size_t> SharedSegment::take_note(std::size_t rank, std::vector<std::byte>& out) {
  Box& box = boxes_[rank];
  if (box.state.load(std::memory_order_acquire) != Box::kFull) return std::nullopt;
  const std::byte* note = notes_ + rank * kMostNoteBytes;
  out.assign(note, note + box.bytes);
  const std::size_t from = box.from;
  box.state.store(Box::kEmpty, std::memory_order_release);
  return from;
}

// Places are taken in the order of the key from its own one on, and given back all at once only.
void SharedSegment::tell(std::size_t to, std::uint64_t event, std::uint64_t at_ns) {
  const std::uint64_t key = event_key(to, event);
  for (std::size_t at = key % kEventPlaces;; at = (at + 1) % kEventPlaces) {
    Event& place = events_[at];
    std::uint64_t found = place.key.load(std::memory_order_acquire);
    if (found == 0) {
      if (header_->events.load(std::memory_order_relaxed) >= kMostEvents) {
        throw base::Error(
            {.code = "signals",
             .message = fmt::format("more than {} different signals at a time", kMostEvents)});
      }
      if (place.key.compare_exchange_strong(found, key, std::memory_order_acq_rel)) {
        header_->events.fetch_add(1, std::memory_order_relaxed);
        found = key;
      }
    }
    if (found != key) continue;
    std::uint64_t latest = place.latest_ns.load(std::memory_order_relaxed);
    while (latest < at_ns && !place.latest_ns.compare_exchange_weak(latest, at_ns)) continue;
    place.times.fetch_add(1, std::memory_order_release);
    return;
  }
}

EventCount SharedSegment::event_count(std::size_t rank, std::uint64_t event) const noexcept {
  const std::uint64_t key = event_key(rank, event);
  for (std::size_t at = key % kEventPlaces;; at = (at + 1) % kEventPlaces) {
    const std::uint64_t found = events_[at].key.load(std::memory_order_acquire);
    if (found == 0) return {};
    if (found != key) continue;
    const std::uint64_t times = events_[at].times.load(std::memory_order_acquire);
    return {times, events_[at].latest_ns.load(std::memory_order_relaxed)};
  }
}

void SharedSegment::forget_told() noexcept {
  if (header_->events.exchange(0) == 0) return;
  for (std::size_t at = 0; at < kEventPlaces; ++at) {
    if (events_[at].key.load(std::memory_order_relaxed) == 0) continue;
    events_[at].times.store(0, std::memory_order_relaxed);
    events_[at].latest_ns.store(0, std::memory_order_relaxed);
    events_[at].key.store(0, std::memory_order_release);
  }
}

void SharedSegment::abort(const base::Problem& problem) noexcept {
  std::uint32_t fine = 0;
  if (!header_->abort_state.compare_exchange_strong(fine, 1)) return;
  header_->problem.set(problem);
  header_->abort_state.store(2, std::memory_order_release);
  wake_all(header_->gate.generation);
}

bool SharedSegment::aborted() const noexcept {
  return header_->abort_state.load(std::memory_order_acquire) == 2;
}

base::Problem SharedSegment::problem() const { return header_->problem.get(); }

void SharedSegment::check() const {
  if (aborted()) throw base::Broken(problem());
}

}  // namespace venturi::comm

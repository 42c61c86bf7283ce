// Mapping, locking and writing the ring.
#include "probe/ring.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace venturi::probe {
namespace {

template <typename T>
void publish(T& to, T value) noexcept {
  std::atomic_ref<T>(to).store(value, std::memory_order_release);
}

}  // namespace

Ring::Ring(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)) {
  if (!file_) {
    throw base::plan_error(path, fmt::format("the ring cannot be opened: {}", strerror(errno)),
                           "venturi probe run makes it");
  }
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw base::target_error(path, "another process probes with this pool",
                             "stop it first: a pool serves one probe at a time");
  }
  struct stat status{};
  if (::fstat(file_.get(), &status) != 0) status.st_size = 0;
  bytes_ = static_cast<std::size_t>(status.st_size);
  if (bytes_ < kHeaderBytes) throw base::plan_error(path, "this is no ring of a probe");
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) {
    throw base::plan_error(path, fmt::format("the ring cannot be mapped: {}", strerror(errno)));
  }
  header_ = static_cast<Header*>(memory);
  samples_ = reinterpret_cast<Sample*>(static_cast<std::byte*>(memory) + kHeaderBytes);
  try {
    check(path, bytes_);
  } catch (...) {
    ::munmap(memory, bytes_);
    throw;
  }
  rewind();
  flushed_ = header_->head;
}

Ring::~Ring() {
  flush();
  ::munmap(header_, bytes_);
}

void Ring::check(const std::string& path, std::uint64_t bytes) const {
  const Header& head = *header_;
  const bool is_ring = head.magic == kMagic && head.header_bytes == kHeaderBytes &&
                       head.sample_bytes == sizeof(Sample) && head.capacity > 0 &&
                       head.capacity <= (bytes - kHeaderBytes) / sizeof(Sample) &&
                       head.directory.back() == '\0' && head.directory.front() == '/';
  if (!is_ring) throw base::plan_error(path, "this is no ring of a probe");
  const bool data = head.kind == Kind::kData;
  const bool is_sane =
      head.interval_ns > 0 && (data ? head.block_bytes >= 4096 && head.block_bytes % 4096 == 0 &&
                                          head.data_bytes >= head.block_bytes
                                    : head.pool_files > 0 && head.file_bytes >= 32);
  if (!is_sane) throw base::plan_error(path, "the settings of this ring contradict each other");
}

std::string Ring::key_text() const {
  return fmt::format("{:016x}{:016x}", header_->key_high, header_->key_low);
}

std::string Ring::root_name() const {
  const char* kind = header_->kind == Kind::kData ? "data" : "metadata";
  return fmt::format("venturi-probe-{}-{:016x}", kind, header_->key_high);
}

void Ring::append(Sample sample) noexcept {
  Header& head = *header_;
  sample.sequence = static_cast<std::uint32_t>(head.head);
  samples_[head.head % head.capacity] = sample;
  constexpr unsigned kNothingDone = kMissed | kAbandoned | kWithheld;
  (sample.flags & kNothingDone ? head.flagged : head.done) += 1;
  if ((sample.flags & kFailed) != 0) head.errors += 1;
  publish(head.head, head.head + 1);
}

void Ring::set_in_flight(const InFlight& now) noexcept {
  publish(header_->in_flight.operation, std::uint64_t{0});
  publish(header_->in_flight.scheduled_monotonic_ns, now.scheduled_monotonic_ns);
  publish(header_->in_flight.scheduled_ns, now.scheduled_ns);
  publish(header_->in_flight.operation, now.operation);
}

bool Ring::is_in_flight() const noexcept {
  return std::atomic_ref<std::uint64_t>(header_->in_flight.operation)
             .load(std::memory_order_acquire) != 0;
}

void Ring::touch(std::uint64_t monotonic_ns, std::uint64_t wall_ns) noexcept {
  publish(header_->alive_monotonic_ns, monotonic_ns);
  publish(header_->alive_ns, wall_ns);
}

void Ring::flush() noexcept {
  const std::uint64_t head =
      std::atomic_ref<std::uint64_t>(header_->head).load(std::memory_order_acquire);
  if (head == flushed_) return;
  flushed_ = head;
  // The kernel knows which pages are dirty: few, whatever the ring's size.
  ::msync(header_, bytes_, MS_SYNC);
}

void Ring::rewind() noexcept {
  Header& head = *header_;
  const auto is_whole = [&](std::uint64_t number) {
    return samples_[number % head.capacity].sequence == static_cast<std::uint32_t>(number) &&
           samples_[number % head.capacity].scheduled_ns != 0;
  };
  const std::uint64_t oldest = std::max(head.first, head.head - std::min(head.head, head.capacity));
  while (head.head > oldest && !is_whole(head.head - 1)) head.head -= 1;
}

}  // namespace venturi::probe

// shm_open, because what MPI and fork share, a later process cannot open.
#include "comm/shared_page.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "comm/exit_channel.hpp"

namespace venturi::comm {
namespace {

constexpr std::size_t kPageBytes = 4096;
/// How long somebody else may take to report the end of a run, and how often to look.
constexpr std::uint64_t kPatienceNs = 3'000'000'000;
constexpr std::uint64_t kPollNs = 10'000'000;

std::size_t header_bytes(std::size_t bytes) noexcept {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

[[noreturn]] void refuse(const std::string& name) {
  throw base::Error({.code = "ranks",
                     .message = fmt::format("no shared memory {}: {}", name, std::strerror(errno)),
                     .hint = "the ranks of a node need /dev/shm"});
}

}  // namespace

SharedPage::SharedPage(std::size_t ranks)
    : name_(fmt::format("/venturi.{}.{}", getpid(), base::monotonic_ns())),
      ranks_(ranks),
      bytes_(header_bytes(sizeof(Header)) + ranks * sizeof(Counters)) {
  const base::Descriptor file(::shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  if (!file) refuse(name_);
  // Memory that is not there would end a rank much later, with a signal.
  errno = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes_));
  if (errno != 0) {
    forget_name();
    refuse(name_);
  }
  map(file.get(), true);
}

SharedPage::SharedPage(const std::string& name, std::size_t ranks)
    : name_(name), ranks_(ranks), bytes_(header_bytes(sizeof(Header)) + ranks * sizeof(Counters)) {
  const base::Descriptor file(::shm_open(name_.c_str(), O_RDWR, 0));
  if (!file) refuse(name_);
  map(file.get(), false);
}

SharedPage::~SharedPage() { ::munmap(memory_, bytes_); }

void SharedPage::map(int descriptor, bool is_new) {
  memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory_ == MAP_FAILED) refuse(name_);
  auto* counters = static_cast<std::byte*>(memory_) + header_bytes(sizeof(Header));
  header_ = is_new ? new (memory_) Header : static_cast<Header*>(memory_);
  counters_ = is_new ? new (counters) Counters[ranks_] : reinterpret_cast<Counters*>(counters);
}

void SharedPage::forget_name() noexcept { ::shm_unlink(name_.c_str()); }

void SharedPage::abort(const base::Problem& problem) noexcept {
  std::uint32_t fine = 0;
  if (!header_->abort_state.compare_exchange_strong(fine, 1)) return;
  header_->problem.set(problem);
  header_->abort_state.store(2, std::memory_order_release);
}

void SharedPage::report(const std::function<void()>& say) {
  std::uint32_t nobody = 0;
  if (header_->report_state.compare_exchange_strong(nobody, 1)) {
    say();
    header_->report_state.store(2, std::memory_order_release);
    return;
  }
  const std::uint64_t end = base::monotonic_ns() + kPatienceNs;
  while (header_->report_state.load(std::memory_order_acquire) != 2 && base::monotonic_ns() < end) {
    pause_for(kPollNs);
  }
}

}  // namespace venturi::comm

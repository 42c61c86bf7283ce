// A group of forked processes with shared memory; the parent watches and reaps them.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "comm/host.hpp"
#include "comm/launch.hpp"
#include "comm/shared_segment.hpp"

namespace venturi::comm {
namespace {

constexpr std::size_t kMostRanks = 4096;
/// How long the others have to leave once a rank is lost.
constexpr std::uint64_t kGraceNs = 5'000'000'000;

template <class Value>
void fold(Value& into, Value value, Reduction how) noexcept {
  switch (how) {
    case Reduction::kSum:
      into += value;
      break;
    case Reduction::kMinimum:
      into = std::min(into, value);
      break;
    case Reduction::kMaximum:
      into = std::max(into, value);
      break;
  }
}

class Forked : public Channel {
 public:
  Forked(SharedSegment& segment, std::size_t rank, std::size_t size)
      : segment_(segment), placement_{rank, size, {host_name()}, std::vector<std::size_t>(size)} {}
  [[nodiscard]] const Placement& placement() const noexcept override { return placement_; }
  [[nodiscard]] std::string name() const override { return "forked"; }
  void barrier(const Poll& poll) override { segment_.barrier(poll); }
  void reduce(std::span<std::uint64_t> values, Reduction how, const Poll& poll) override {
    reduce_any(values, how, poll);
  }
  void reduce(std::span<double> values, Reduction how, const Poll& poll) override {
    reduce_any(values, how, poll);
  }
  void gather(std::span<const std::byte> mine, std::span<std::byte> all, const Poll& poll) override;
  void broadcast(std::span<std::byte> data, const Poll& poll) override;
  std::int64_t clock_offset_ns(const base::Clock&, std::uint64_t& uncertainty_ns) override {
    uncertainty_ns = 0;
    return 0;
  }
  [[nodiscard]] Counters& own_counters() noexcept override {
    return segment_.counters()[placement_.rank];
  }
  [[nodiscard]] std::span<Counters> visible_counters() noexcept override {
    return segment_.counters();
  }
  void check() override {
    if (segment_.aborted()) throw base::Broken(segment_.problem());
  }
  void abort(const base::Problem& problem) noexcept override { segment_.abort(problem); }

 private:
  template <class Value>
  void reduce_any(std::span<Value> values, Reduction how, const Poll& poll);

  SharedSegment& segment_;
  Placement placement_;
};

// Each rank folds its own slice of the elements over all ranks, so the work does not grow with
// ranks * ranks.
template <class Value>
void Forked::reduce_any(std::span<Value> values, Reduction how, const Poll& poll) {
  constexpr std::size_t kChunk = SharedSegment::kSlotBytes / sizeof(Value);
  const std::size_t size = placement_.size;
  auto* result = reinterpret_cast<Value*>(segment_.result());
  for (std::size_t begin = 0; begin < values.size(); begin += kChunk) {
    const std::size_t length = std::min(kChunk, values.size() - begin);
    std::memcpy(segment_.slot(placement_.rank), &values[begin], length * sizeof(Value));
    segment_.barrier(poll);
    const std::size_t from = length * placement_.rank / size;
    const std::size_t to = length * (placement_.rank + 1) / size;
    for (std::size_t rank = 0; rank < size; ++rank) {
      const auto* other = reinterpret_cast<const Value*>(segment_.slot(rank));
      for (std::size_t i = from; i < to; ++i) {
        if (rank == 0) {
          result[i] = other[i];
        } else {
          fold(result[i], other[i], how);
        }
      }
    }
    segment_.barrier(poll);
    std::memcpy(&values[begin], result, length * sizeof(Value));
  }
}

void Forked::gather(std::span<const std::byte> mine, std::span<std::byte> all, const Poll& poll) {
  for (std::size_t begin = 0; begin < mine.size(); begin += SharedSegment::kSlotBytes) {
    const std::size_t length = std::min(SharedSegment::kSlotBytes, mine.size() - begin);
    std::memcpy(segment_.slot(placement_.rank), mine.data() + begin, length);
    segment_.barrier(poll);
    for (std::size_t rank = 0; placement_.rank == 0 && rank < placement_.size; ++rank) {
      std::memcpy(all.data() + rank * mine.size() + begin, segment_.slot(rank), length);
    }
    segment_.barrier(poll);
  }
}

void Forked::broadcast(std::span<std::byte> data, const Poll& poll) {
  for (std::size_t begin = 0; begin < data.size(); begin += SharedSegment::kSlotBytes) {
    const std::size_t length = std::min(SharedSegment::kSlotBytes, data.size() - begin);
    // Not through the result: others may still be copying that of the last reduction.
    if (placement_.rank == 0) std::memcpy(segment_.slot(0), data.data() + begin, length);
    segment_.barrier(poll);
    std::memcpy(data.data() + begin, segment_.slot(0), length);
    segment_.barrier(poll);
  }
}

/// What one forked process does from its first to its last moment.
[[noreturn]] void be_rank(const Launch& how, SharedSegment& segment, std::size_t rank) {
  int code = base::kExitFailed;
  try {
    Group group(std::make_unique<Forked>(segment, rank, how.ranks));
    code = how.body(group);
  } catch (const base::Error& error) {
    segment.abort(error.problem());
    code = error.problem().exit_code;
  } catch (const std::exception& error) {
    segment.abort({.code = "fault",
                   .message = fmt::format("rank {}: {}", rank, error.what()),
                   .exit_code = 1});
    code = 1;
  }
  segment.leave(rank);
  std::fflush(nullptr);
  _exit(code);
}

/// The parent: reaps the ranks, and ends the others when one is lost.
class Monitor {
 public:
  Monitor(SharedSegment& segment, std::size_t ranks) : segment_(segment), pids_(ranks, 0) {}

  /// Forks all ranks. Throws base::Error when the system refuses one of them.
  void start(const Launch& how) {
    const pid_t parent = getpid();
    std::fflush(nullptr);
    for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
      const pid_t pid = fork();
      if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(base::kExitFailed);
        be_rank(how, segment_, rank);
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
  }

  /// Waits until all are gone; returns the largest exit code of those that left in order.
  int wait() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, number);
    while (reap() > 0) {
      const timespec limit{.tv_sec = 0, .tv_nsec = 100'000'000};
      const int number = sigtimedwait(&signals, nullptr, &limit);
      if (number == SIGINT || number == SIGTERM) pass_on(number);
      if (segment_.aborted()) enforce_grace();
    }
    return code_;
  }

 private:
  std::size_t reap() {
    std::size_t running = 0;
    for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
      if (pids_[rank] == 0) continue;
      int status = 0;
      if (waitpid(pids_[rank], &status, WNOHANG) != pids_[rank]) {
        ++running;
        continue;
      }
      pids_[rank] = 0;
      if (segment_.has_left(rank) && WIFEXITED(status)) {
        code_ = std::max(code_, WEXITSTATUS(status));
      } else {
        lose(rank, status);
      }
    }
    return running;
  }

  void lose(std::size_t rank, int status) {
    const std::string how = WIFSIGNALED(status)
                                ? fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                                              strsignal(WTERMSIG(status)))
                                : fmt::format("ended with code {}", WEXITSTATUS(status));
    segment_.abort({.code = "lost_rank", .message = fmt::format("rank {} {}", rank, how)});
  }

  void pass_on(int number) const {
    for (const pid_t pid : pids_) {
      if (pid != 0) kill(pid, number);
    }
  }

  void enforce_grace() {
    const std::uint64_t now = base::monotonic_ns();
    if (aborted_ns_ == 0) aborted_ns_ = now;
    if (now - aborted_ns_ > kGraceNs) pass_on(SIGKILL);
  }

  SharedSegment& segment_;
  std::vector<pid_t> pids_;
  int code_ = 0;
  std::uint64_t aborted_ns_ = 0;
};

}  // namespace

int launch_forked(const Launch& how) {
  if (how.ranks > kMostRanks) {
    throw base::Error({.code = "ranks",
                       .message = fmt::format("{} ranks cannot be forked on one machine (at most "
                                              "{})",
                                              how.ranks, kMostRanks),
                       .hint = "start the MPI engine with mpirun or srun"});
  }
  SharedSegment segment(how.ranks);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  Monitor monitor(segment, how.ranks);
  monitor.start(how);
  const int code = monitor.wait();
  if (!segment.aborted()) return code;
  how.on_broken(segment.problem());
  return segment.problem().exit_code;
}

}  // namespace venturi::comm

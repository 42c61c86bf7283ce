// A group of MPI processes; the only file of the engine's core that knows mpi.h.
#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "base/cycle_counter.hpp"
#include "comm/launch.hpp"
#include "comm/launcher_environment.hpp"
#include "comm/problem_text.hpp"

namespace venturi::comm {
namespace {

constexpr int kAbortTag = 1;
constexpr int kClockTag = 2;
/// How long rank 0 waits for the others to stop, and they for rank 0 to end the job.
constexpr std::uint64_t kGraceNs = 3'000'000'000;

MPI_Op operation_of(Reduction how) {
  switch (how) {
    case Reduction::kSum:
      return MPI_SUM;
    case Reduction::kMinimum:
      return MPI_MIN;
    case Reduction::kMaximum:
      break;
  }
  return MPI_MAX;
}

/// Spins, then yields, then sleeps longer and longer.
class BackOff {
 public:
  void wait() {
    ++turns_;
    if (turns_ < 1000) {
      base::relax();
    } else if (turns_ < 1200) {
      sched_yield();
    } else {
      const timespec pause{.tv_sec = 0, .tv_nsec = std::min(20'000L * (turns_ - 1199), 500'000L)};
      nanosleep(&pause, nullptr);
    }
  }
  /// Whether it is worth looking at anything else.
  [[nodiscard]] bool idle() const noexcept { return turns_ >= 1200; }

 private:
  long turns_ = 0;
};

class Mpi : public Channel {
 public:
  Mpi() {
    MPI_Comm_dup(MPI_COMM_WORLD, &control_);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    placement_.rank = static_cast<std::size_t>(rank);
    placement_.size = static_cast<std::size_t>(size);
    find_nodes();
    share_counters();
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  ~Mpi() override {
    MPI_Win_free(&window_);
    MPI_Comm_free(&node_);
    MPI_Comm_free(&control_);
  }

  [[nodiscard]] const Placement& placement() const noexcept override { return placement_; }
  [[nodiscard]] std::string name() const override { return "mpi, " + mpi_library(); }

  void barrier(const Poll& poll) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    finish(request, poll);
  }
  void reduce(std::span<std::uint64_t> values, Reduction how, const Poll& poll) override {
    reduce_any(values.data(), values.size(), MPI_UINT64_T, how, poll);
  }
  void reduce(std::span<double> values, Reduction how, const Poll& poll) override {
    reduce_any(values.data(), values.size(), MPI_DOUBLE, how, poll);
  }
  void gather(std::span<const std::byte> mine, std::span<std::byte> all,
              const Poll& poll) override {
    MPI_Request request = MPI_REQUEST_NULL;
    const int bytes = static_cast<int>(mine.size());
    MPI_Igather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD,
                &request);
    finish(request, poll);
  }
  void broadcast(std::span<std::byte> data, const Poll& poll) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    finish(request, poll);
  }

  std::int64_t clock_offset_ns(const base::Clock& clock, std::uint64_t& uncertainty_ns) override;

  [[nodiscard]] Counters& own_counters() noexcept override { return *own_; }
  [[nodiscard]] std::span<Counters> visible_counters() noexcept override { return visible_; }

  void check() override {
    int arrived = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, kAbortTag, control_, &arrived, MPI_STATUS_IGNORE);
    if (arrived != 0) throw base::Broken(receive_problem());
  }
  void abort(const base::Problem& problem) noexcept override;
  /// Rank 0: waits, for a bounded time, until all others have said that they stopped.
  void collect(std::size_t already);

 private:
  void find_nodes();
  void share_counters();
  void finish(MPI_Request& request, const Poll& poll);
  void reduce_any(void* values, std::size_t count, MPI_Datatype type, Reduction how,
                  const Poll& poll) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(count), type, operation_of(how),
                   MPI_COMM_WORLD, &request);
    finish(request, poll);
  }
  base::Problem receive_problem() {
    ProblemText text;
    MPI_Recv(&text, sizeof text, MPI_BYTE, MPI_ANY_SOURCE, kAbortTag, control_, MPI_STATUS_IGNORE);
    ++stopped_;
    return text.get();
  }

  Placement placement_;
  /// Aborts travel beside the collectives, never between them.
  MPI_Comm control_ = MPI_COMM_NULL;
  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  Counters* own_ = nullptr;
  std::span<Counters> visible_;
  /// Ranks whose word that they stopped has arrived here.
  std::size_t stopped_ = 0;
  ProblemText outgoing_;
};

void Mpi::find_nodes() {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name mine{};
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::vector<Name> all(placement_.size);
  MPI_Allgather(mine.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME,
                MPI_CHAR, MPI_COMM_WORLD);
  std::map<std::string, std::size_t> numbers;
  for (const Name& name : all) {
    const auto [found, is_new] = numbers.emplace(name.data(), numbers.size());
    if (is_new) placement_.hosts.emplace_back(name.data());
    placement_.node_of_rank.push_back(found->second);
  }
}

void Mpi::share_counters() {
  const int color = static_cast<int>(placement_.node_of_rank[placement_.rank]);
  MPI_Comm_split(MPI_COMM_WORLD, color, static_cast<int>(placement_.rank), &node_);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(node_, &rank);
  MPI_Comm_size(node_, &size);
  void* memory = nullptr;
  const auto bytes =
      static_cast<MPI_Aint>(rank == 0 ? sizeof(Counters) * static_cast<std::size_t>(size + 1) : 0);
  MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node_, &memory, &window_);
  MPI_Aint length = 0;
  int unit = 1;
  MPI_Win_shared_query(window_, 0, &length, &unit, &memory);
  std::size_t space = sizeof(Counters) * static_cast<std::size_t>(size + 1);
  void* aligned = std::align(alignof(Counters), sizeof(Counters), memory, space);
  auto* first = static_cast<Counters*>(aligned);
  own_ = new (first + rank) Counters;
  visible_ = {first, static_cast<std::size_t>(size)};
  MPI_Barrier(node_);
}

void Mpi::finish(MPI_Request& request, const Poll& poll) {
  BackOff back_off;
  int done = 0;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    if (back_off.idle()) {
      check();
      if (poll) poll();
    }
    back_off.wait();
  }
}

std::int64_t Mpi::clock_offset_ns(const base::Clock& clock, std::uint64_t& uncertainty_ns) {
  constexpr int kRounds = 100;
  uncertainty_ns = 0;
  if (placement_.hosts.size() < 2) return 0;
  const std::size_t node = placement_.node_of_rank[placement_.rank];
  const auto leader_of = [&](std::size_t which) {
    const auto& nodes = placement_.node_of_rank;
    return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), which) - nodes.begin());
  };
  std::array<std::int64_t, 2> found{0, 0};
  if (placement_.rank == 0) {
    for (std::size_t other = 1; other < placement_.hosts.size(); ++other) {
      for (int round = 0; round < kRounds; ++round) {
        const int peer = static_cast<int>(leader_of(other));
        std::uint64_t now = 0;
        MPI_Recv(&now, 1, MPI_UINT64_T, peer, kClockTag, control_, MPI_STATUS_IGNORE);
        now = clock.now_ns();
        MPI_Send(&now, 1, MPI_UINT64_T, peer, kClockTag, control_);
      }
    }
  } else if (leader_of(node) == placement_.rank && node != 0) {
    std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
    for (int round = 0; round < kRounds; ++round) {
      std::uint64_t theirs = 0;
      const std::uint64_t sent = clock.now_ns();
      MPI_Send(&sent, 1, MPI_UINT64_T, 0, kClockTag, control_);
      MPI_Recv(&theirs, 1, MPI_UINT64_T, 0, kClockTag, control_, MPI_STATUS_IGNORE);
      const std::uint64_t width = clock.now_ns() - sent;
      if (width >= narrowest) continue;
      narrowest = width;
      found = {static_cast<std::int64_t>(theirs) - static_cast<std::int64_t>(sent + width / 2),
               static_cast<std::int64_t>(width / 2)};
    }
  }
  MPI_Bcast(found.data(), 2, MPI_INT64_T, 0, node_);
  uncertainty_ns = static_cast<std::uint64_t>(found[1]);
  return found[0];
}

void Mpi::abort(const base::Problem& problem) noexcept {
  outgoing_.set(problem);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto send_to = [&](std::size_t rank) {
    MPI_Isend(&outgoing_, sizeof outgoing_, MPI_BYTE, static_cast<int>(rank), kAbortTag, control_,
              &request);
    MPI_Request_free(&request);
  };
  if (placement_.rank != 0) return send_to(0);
  for (std::size_t rank = 1; rank < placement_.size; ++rank) send_to(rank);
}

void Mpi::collect(std::size_t already) {
  stopped_ += already;
  BackOff back_off;
  const std::uint64_t end = base::monotonic_ns() + kGraceNs;
  while (stopped_ + 1 < placement_.size && base::monotonic_ns() < end) {
    try {
      check();
    } catch (const base::Broken&) {
      continue;  // one more rank has stopped
    }
    back_off.wait();
  }
}

/// The group broke: rank 0 says why once the others have stopped, and ends the job.
[[noreturn]] void end_job(const Launch& how, Mpi& channel, const base::Problem& problem) {
  channel.abort(problem);
  if (channel.placement().rank == 0) {
    channel.collect(0);
    how.on_broken(problem);
  } else {
    const timespec pause{.tv_sec = 2 * kGraceNs / 1'000'000'000, .tv_nsec = 0};
    nanosleep(&pause, nullptr);
  }
  MPI_Abort(MPI_COMM_WORLD, problem.exit_code);
  _exit(problem.exit_code);
}

/// Started by another MPI's mpirun every process is a job of its own: only the first one speaks.
[[noreturn]] void refuse(const Launch& how, std::size_t size) {
  MPI_Finalize();
  const auto launcher = detect_launcher();
  if (launcher && launcher->rank != 0) _exit(base::kExitFailed);
  throw base::Error(
      {.code = "ranks",
       .message =
           fmt::format("the plan is for {} ranks, but {} sees {}", how.ranks, mpi_library(), size),
       .hint =
           "start as many processes as the plan has ranks, with the mpirun of the engine's MPI"});
}

}  // namespace

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string name(text.data(), static_cast<std::size_t>(length));
  name.resize(std::min(name.find_first_of(",\n"), name.size()));
  std::replace(name.begin(), name.end(), '\t', ' ');
  return name;
}

int launch_mpi(const Launch& how) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (static_cast<std::size_t>(size) != how.ranks) refuse(how, static_cast<std::size_t>(size));
  auto owned = std::make_unique<Mpi>();
  Mpi& channel = *owned;
  int code = base::kExitFailed;
  {
    Group group(std::move(owned));
    try {
      code = how.body(group);
    } catch (const base::Error& error) {
      end_job(how, channel, error.problem());
    } catch (const std::exception& error) {
      end_job(how, channel, {.code = "fault", .message = error.what(), .exit_code = 1});
    }
  }
  MPI_Finalize();
  return code;
}

}  // namespace venturi::comm

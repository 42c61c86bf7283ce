// Collective operations: the time of the slowest rank for each call, and what the calls must bring.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "kernel/message.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {
namespace {

constexpr std::uint64_t kLeastTimes = 10;
constexpr std::uint64_t kMostTimes = 200;
constexpr std::uint64_t kWarmUps = 3;

/// Buffers of one size, and the calls on them.
class Calls {
 public:
  Calls(const Environment& environment, std::byte* out, std::byte* in, std::uint64_t bytes)
      : comm_(communicator_of(environment.group)),
        rank_(environment.group.rank()),
        ranks_(environment.group.size()),
        out_(out),
        in_(in),
        bytes_(bytes),
        count_(static_cast<int>(bytes)),
        words_(static_cast<int>(bytes / sizeof(std::int64_t))) {
    for (std::uint64_t rank = 0; rank < ranks_; ++rank) {
      counts_.push_back(count_);
      places_.push_back(static_cast<int>(rank * bytes));
    }
  }

  void barrier() const { MPI_Barrier(comm_); }
  void bcast() const { MPI_Bcast(rank_ == 0 ? out_ : in_, count_, MPI_BYTE, 0, comm_); }
  void reduce() const { MPI_Reduce(out_, in_, words_, MPI_INT64_T, MPI_SUM, 0, comm_); }
  void allreduce() const { MPI_Allreduce(out_, in_, words_, MPI_INT64_T, MPI_SUM, comm_); }
  void gather() const { MPI_Gather(out_, count_, MPI_BYTE, in_, count_, MPI_BYTE, 0, comm_); }
  void gatherv() const {
    MPI_Gatherv(out_, count_, MPI_BYTE, in_, counts_.data(), places_.data(), MPI_BYTE, 0, comm_);
  }
  void allgather() const { MPI_Allgather(out_, count_, MPI_BYTE, in_, count_, MPI_BYTE, comm_); }
  void alltoall() const { MPI_Alltoall(out_, count_, MPI_BYTE, in_, count_, MPI_BYTE, comm_); }
  void alltoallv() const {
    MPI_Alltoallv(out_, counts_.data(), places_.data(), MPI_BYTE, in_, counts_.data(),
                  places_.data(), MPI_BYTE, comm_);
  }

  /// Puts what each rank sends: to rank k, its part k.
  void prepare() {
    for (std::uint64_t part = 0; part < ranks_; ++part) {
      fill_payload(out_ + part * bytes_, bytes_, rank_ + part);
    }
    std::fill(in_, in_ + ranks_ * bytes_, std::byte{0});
  }
  /// The same of the calls that add up numbers.
  void prepare_numbers() {
    auto* numbers = reinterpret_cast<std::int64_t*>(out_);
    for (int i = 0; i < words_; ++i) numbers[i] = number(rank_, i);
    std::fill(in_, in_ + bytes_, std::byte{0});
  }
  void damage() { in_[bytes_ / 2] ^= std::byte{0x40}; }

  void check_nothing(const std::string&) const {}
  void check_bcast(const std::string& what) const {
    if (rank_ != 0) check_payload(in_, bytes_, 0, what);
  }
  void check_sum(const std::string& what) const {
    const auto* numbers = reinterpret_cast<const std::int64_t*>(in_);
    for (int i = 0; i < words_; ++i) {
      std::int64_t all = 0;
      for (std::uint64_t rank = 0; rank < ranks_; ++rank) all += number(rank, i);
      if (numbers[i] == all) continue;
      throw wrong_value(fmt::format("{}: number {} is {}, not {}", what, i, numbers[i], all));
    }
  }
  void check_sum_of_first(const std::string& what) const {
    if (rank_ == 0) check_sum(what);
  }
  /// Every rank's part 0 in their order.
  void check_gathered(const std::string& what) const {
    for (std::uint64_t rank = 0; rank < ranks_; ++rank) {
      check_payload(in_ + rank * bytes_, bytes_, rank, fmt::format("{} from rank {}", what, rank));
    }
  }
  void check_gathered_of_first(const std::string& what) const {
    if (rank_ == 0) check_gathered(what);
  }
  void check_exchanged(const std::string& what) const {
    for (std::uint64_t rank = 0; rank < ranks_; ++rank) {
      check_payload(in_ + rank * bytes_, bytes_, rank + rank_,
                    fmt::format("{} from rank {}", what, rank));
    }
  }

 private:
  [[nodiscard]] static std::int64_t number(std::uint64_t rank, int at) {
    return static_cast<std::int64_t>(rank + 1) * (at % 1000 + 1);
  }

  MPI_Comm comm_;
  std::uint64_t rank_;
  std::uint64_t ranks_;
  std::byte* out_;
  std::byte* in_;
  std::uint64_t bytes_;
  int count_;
  int words_;
  std::vector<int> counts_;
  std::vector<int> places_;
};

/// A collective operation, and what must be there behind it.
struct Operation {
  const char* name;
  void (Calls::*call)() const;
  void (Calls::*check)(const std::string&) const;
  bool adds_up = false;
  bool has_sizes = true;
  /// The size that is a figure; 0: the largest.
  std::uint64_t figure_bytes = 0;
};
constexpr std::uint64_t kNoFigure = 1;

constexpr std::array<Operation, 9> kOperations{{
    {"barrier", &Calls::barrier, &Calls::check_nothing, false, false, 0},
    {"bcast", &Calls::bcast, &Calls::check_bcast, false, true, kNoFigure},
    {"reduce", &Calls::reduce, &Calls::check_sum_of_first, true, true, kNoFigure},
    {"allreduce", &Calls::allreduce, &Calls::check_sum, true, true, 8},
    {"gather", &Calls::gather, &Calls::check_gathered_of_first, false, true, kNoFigure},
    {"gatherv", &Calls::gatherv, &Calls::check_gathered_of_first, false, true, kNoFigure},
    {"allgather", &Calls::allgather, &Calls::check_gathered, false, true, kNoFigure},
    {"alltoall", &Calls::alltoall, &Calls::check_exchanged, false, true, kNoFigure},
    {"alltoallv", &Calls::alltoallv, &Calls::check_exchanged, false, true, 0},
}};

/// Every call begins behind a wait of all, and its time is the slowest rank's.
std::vector<double> timed(const Environment& environment, const Calls& calls,
                          const Operation& operation) {
  const MPI_Comm comm = communicator_of(environment.group);
  const auto turn = [&] {
    MPI_Barrier(comm);
    const std::uint64_t begin = environment.clock.now_ns();
    (calls.*operation.call)();
    return base::seconds(environment.clock.now_ns() - begin);
  };
  double once_s = turn();
  for (std::uint64_t i = 0; i < kWarmUps; ++i) once_s = turn();
  environment.group.reduce(std::span(&once_s, 1), comm::Reduction::kMaximum);
  environment.tick();
  std::vector<double> taken_s(
      times_in(environment.settings.real("size_s"), once_s, kLeastTimes, kMostTimes));
  for (double& one : taken_s) one = turn();
  environment.group.reduce(std::span(taken_s), comm::Reduction::kMaximum);
  return taken_s;
}

std::vector<std::uint64_t> sizes_of(const Environment& environment, schema::KernelResult& out) {
  const std::uint64_t most = environment.settings.bytes("most") / 8 * 8;
  const std::uint64_t room = environment.settings.bytes("memory") / 2 / environment.group.size();
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 8; size < most; size *= 4) sizes.push_back(size);
  sizes.push_back(most);
  while (sizes.size() > 1 && sizes.back() > room) {
    out.facts.push_back({"left out for memory, bytes", std::to_string(sizes.back())});
    sizes.pop_back();
  }
  return sizes;
}

void run(const Environment& environment, schema::KernelResult& out) {
  out.ranks = static_cast<std::int64_t>(environment.group.size());
  note_transport(out);
  const std::vector<std::uint64_t> sizes = sizes_of(environment, out);
  base::Buffer send;
  base::Buffer receive;
  environment.together([&] {
    send.reserve(sizes.back() * environment.group.size());
    receive.reserve(sizes.back() * environment.group.size());
  });
  for (const Operation& operation : kOperations) {
    schema::KernelSeries series =
        series_of(operation.name, "s", schema::KernelStatistic::kMedian, {});
    if (operation.has_sizes) series.axes = {{"part", "B"}};
    const std::uint64_t figure =
        operation.figure_bytes == 0 ? sizes.back() : operation.figure_bytes;
    for (const std::uint64_t bytes : sizes) {
      Calls calls(environment, send.data(), receive.data(), bytes);
      operation.adds_up ? calls.prepare_numbers() : calls.prepare();
      schema::KernelPoint point;
      if (operation.has_sizes) point.at = {static_cast<std::int64_t>(bytes)};
      point.samples = timed(environment, calls, operation);
      if (environment.settings.boolean("damage")) calls.damage();
      environment.together([&] {
        (calls.*operation.check)(
            fmt::format("message_collectives: {} of {} bytes", operation.name, bytes));
      });
      if (!operation.has_sizes || bytes == figure) point.figure = operation.name;
      series.points.push_back(std::move(point));
      if (!operation.has_sizes) break;
    }
    out.series.push_back(std::move(series));
  }
}

}  // namespace

const Entry& message_collectives_entry();
const Entry& message_collectives_entry() {
  static const Entry entry{run};
  return entry;
}

}  // namespace venturi::kernel

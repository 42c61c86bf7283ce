// Messages between pairs of ranks, as the OSU micro-benchmarks define their numbers: rank r of the
// first half with rank r + n / 2. Payloads are checked outside of the time.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernel/message.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {
namespace {

constexpr int kDataTag = 100;
constexpr int kReplyTag = 101;
constexpr std::uint64_t kLeastTimes = 10;
constexpr std::uint64_t kMostTimes = 200;
constexpr std::uint64_t kWarmUps = 5;

enum class Way : std::uint8_t { kPingPong, kStream, kBoth };

/// One size and one way of messages between the ranks that take part.
class Exchange {
 public:
  Exchange(const Environment& environment, std::uint64_t pairs, Way way, std::uint64_t bytes)
      : environment_(environment),
        comm_(communicator_of(environment.group)),
        way_(way),
        bytes_(bytes),
        window_(way == Way::kPingPong ? 1 : environment.settings.integer("window")) {
    const std::uint64_t half = environment.group.size() / 2;
    const std::uint64_t rank = environment.group.rank();
    is_first_ = rank < pairs;
    takes_part_ = is_first_ || (rank >= half && rank < half + pairs);
    if (!takes_part_) return;
    other_ = static_cast<int>(is_first_ ? rank + half : rank - half);
  }

  /// Seconds of every turn, on the first ranks of the pairs: the slowest pair's. Collective.
  std::vector<double> run(std::byte* out, std::byte* in) {
    requests_.resize(2 * window_);
    double once_s = timed_turn(out, in);
    for (std::uint64_t i = 0; i < kWarmUps; ++i) once_s = timed_turn(out, in);
    environment_.group.reduce(std::span(&once_s, 1), comm::Reduction::kMaximum);
    const std::uint64_t times =
        times_in(environment_.settings.real("size_s"), once_s, kLeastTimes, kMostTimes);
    environment_.tick();
    environment_.group.start(environment_.clock);
    std::vector<double> taken_s(times);
    for (double& one : taken_s) one = timed_turn(out, in);
    if (!is_first_) std::fill(taken_s.begin(), taken_s.end(), 0.0);
    environment_.group.reduce(std::span(taken_s), comm::Reduction::kMaximum);
    return taken_s;
  }

  /// One turn with a payload of its own, which is compared.
  void check(std::byte* out, std::byte* in, bool is_damaged) {
    const std::uint64_t key = bytes_ + environment_.group.rank();
    fill_payload(out, bytes_, key);
    std::fill(in, in + bytes_, std::byte{0});
    timed_turn(out, in);
    if (is_damaged && bytes_ > 0) in[bytes_ / 2] ^= std::byte{0x40};
    environment_.together([&] {
      const bool receives = takes_part_ && (way_ != Way::kStream || !is_first_);
      if (!receives) return;
      check_payload(in, bytes_, bytes_ + static_cast<std::uint64_t>(other_),
                    fmt::format("message_pairs: message from rank {}", other_));
    });
  }

 private:
  double timed_turn(std::byte* out, std::byte* in) {
    if (!takes_part_) return 0.0;
    const std::uint64_t begin = environment_.clock.now_ns();
    if (way_ == Way::kPingPong) {
      ping_pong(out, in);
    } else {
      stream(out, in);
    }
    return base::seconds(environment_.clock.now_ns() - begin);
  }
  void ping_pong(std::byte* out, std::byte* in) const {
    const int bytes = static_cast<int>(bytes_);
    if (is_first_) {
      MPI_Send(out, bytes, MPI_BYTE, other_, kDataTag, comm_);
      MPI_Recv(in, bytes, MPI_BYTE, other_, kDataTag, comm_, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, bytes, MPI_BYTE, other_, kDataTag, comm_, MPI_STATUS_IGNORE);
      MPI_Send(out, bytes, MPI_BYTE, other_, kDataTag, comm_);
    }
  }
  /// A window of messages, then a byte back, so that the time is that of their arrival.
  void stream(std::byte* out, std::byte* in) {
    const int bytes = static_cast<int>(bytes_);
    int posted = 0;
    if (way_ == Way::kBoth || !is_first_) {
      for (std::uint64_t i = 0; i < window_; ++i) {
        MPI_Irecv(in, bytes, MPI_BYTE, other_, kDataTag, comm_, &requests_[posted++]);
      }
    }
    if (way_ == Way::kBoth || is_first_) {
      for (std::uint64_t i = 0; i < window_; ++i) {
        MPI_Isend(out, bytes, MPI_BYTE, other_, kDataTag, comm_, &requests_[posted++]);
      }
    }
    MPI_Waitall(posted, requests_.data(), MPI_STATUSES_IGNORE);
    char reply = 0;
    if (is_first_) {
      MPI_Recv(&reply, 1, MPI_CHAR, other_, kReplyTag, comm_, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(&reply, 1, MPI_CHAR, other_, kReplyTag, comm_);
    }
  }

  const Environment& environment_;
  MPI_Comm comm_;
  Way way_;
  std::uint64_t bytes_;
  std::uint64_t window_;
  bool is_first_ = false;
  bool takes_part_ = false;
  int other_ = MPI_PROC_NULL;
  std::vector<MPI_Request> requests_;
};

/// The rank's two messages.
struct Messages {
  base::Buffer out;
  base::Buffer in;
};

/// One way of messages over all sizes; a sample is what one turn gives for one message.
schema::KernelSeries measure(const Environment& environment, Messages& messages,
                             const std::string& name, Way way, std::uint64_t pairs) {
  const bool is_latency = way == Way::kPingPong;
  schema::KernelSeries series = series_of(name, is_latency ? "s" : "B/s",
                                          schema::KernelStatistic::kMedian, {{"message", "B"}});
  const std::uint64_t window = environment.settings.integer("window");
  const std::uint64_t most = environment.settings.bytes("most");
  for (const std::uint64_t bytes : message_sizes(most)) {
    if (!is_latency && bytes == 0) continue;
    Exchange exchange(environment, pairs, way, bytes);
    schema::KernelPoint point;
    point.at = {static_cast<std::int64_t>(bytes)};
    const double moved = static_cast<double>(bytes * window * pairs * (way == Way::kBoth ? 2 : 1));
    for (const double taken_s : exchange.run(messages.out.data(), messages.in.data())) {
      point.samples.push_back(is_latency ? taken_s / 2.0 : moved / taken_s);
    }
    exchange.check(messages.out.data(), messages.in.data(), environment.settings.boolean("damage"));
    if (bytes == (is_latency ? 0 : most)) point.figure = name;
    series.points.push_back(std::move(point));
  }
  return series;
}

/// t = alpha + m / B by least squares of the relative error over the medians of all sizes.
void fit(const schema::KernelSeries& latency, schema::KernelResult& out) {
  double s = 0.0;
  double sx = 0.0;
  double sxx = 0.0;
  double sy = 0.0;
  double sxy = 0.0;
  for (const schema::KernelPoint& point : latency.points) {
    const double t = middle(point.samples);
    const double x = static_cast<double>(point.at[0]);
    const double weight = 1.0 / (t * t);
    s += weight;
    sx += weight * x;
    sxx += weight * x * x;
    sy += weight * t;
    sxy += weight * x * t;
  }
  const double slope = (s * sxy - sx * sy) / (s * sxx - sx * sx);
  const double alpha = (sy - slope * sx) / s;
  if (!(slope > 0.0) || !(alpha > 0.0)) return;
  out.series.push_back(single("alpha", "s", {alpha}));
  out.series.push_back(single("rate", "B/s", {1.0 / slope}));
  schema::KernelSeries half = single("half size", "B", {alpha / slope});
  half.better = schema::Better::kNone;
  out.series.push_back(std::move(half));
}

/// Messages a second, from bandwidth at 1 byte.
void note_rate(const schema::KernelSeries& bandwidth, schema::KernelResult& out) {
  schema::KernelSeries series =
      series_of("message rate", "msg/s", schema::KernelStatistic::kMedian, {});
  series.points.push_back({{}, bandwidth.points.front().samples, "message rate"});
  out.series.push_back(std::move(series));
}

void run(const Environment& environment, schema::KernelResult& out) {
  const std::uint64_t pairs = environment.group.size() / 2;
  out.ranks = static_cast<std::int64_t>(2 * pairs);
  note_transport(out);
  Messages messages;
  environment.together([&] {
    const std::uint64_t most = environment.settings.bytes("most");
    messages.out.reserve(most);
    messages.in.reserve(most);
  });
  out.series.push_back(measure(environment, messages, "latency", Way::kPingPong, 1));
  out.series.push_back(measure(environment, messages, "bandwidth", Way::kStream, 1));
  out.series.push_back(measure(environment, messages, "bidirectional", Way::kBoth, 1));
  if (pairs > 1) {
    out.series.push_back(measure(environment, messages, "latency of all", Way::kPingPong, pairs));
    out.series.push_back(measure(environment, messages, "bandwidth of all", Way::kStream, pairs));
    note_rate(out.series.back(), out);
  }
  fit(schema::KernelSeries(out.series[0]), out);
}

}  // namespace

const Entry& message_pairs_entry();
const Entry& message_pairs_entry() {
  static const Entry entry{run};
  return entry;
}

}  // namespace venturi::kernel

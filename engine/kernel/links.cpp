// Messages between each two ranks: n - 1 steps of disjoint pairs (n for an odd number), and the
// slowest pairs once more, each alone, because a slow pair among many may only have had to share.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "base/random.hpp"
#include "kernel/message.hpp"
#include "kernel/pairing.hpp"
#include "kernel/processor.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {
namespace {

constexpr int kDataTag = 200;
constexpr int kReplyTag = 201;
/// With more ranks the record keeps the median of a pair, not its messages.
constexpr std::uint64_t kMostRanksWithSamples = 128;
/// With more, the record would not fit into memory of one rank.
constexpr std::uint64_t kMostRanks = 2048;

/// A pair and the seconds of its messages.
struct Pair {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::vector<double> taken_s;
};

/// Moves the messages of pairs that this rank is in.
class Links {
 public:
  explicit Links(const Environment& environment)
      : environment_(environment),
        comm_(communicator_of(environment.group)),
        rank_(environment.group.rank()),
        bytes_(environment.settings.bytes("size")),
        messages_(environment.settings.integer("messages")),
        warmup_(environment.settings.integer("warmup")),
        way_(environment.settings.word("way")) {
    if (environment.settings.real("slow_s") > 0.0) {
      slow_from_ = environment.settings.integer("slow_from");
      slow_to_ = environment.settings.integer("slow_to");
    }
  }

  /// Collective: there is room for the two messages.
  void reserve() {
    environment_.together([&] {
      out_.reserve(bytes_);
      in_.reserve(bytes_);
    });
    fill_payload(out_.data(), bytes_, rank_);
  }

  /// Seconds of one message of each turn; only the lower rank's are kept.
  std::vector<double> with(std::uint64_t partner) {
    const int other = static_cast<int>(partner);
    const bool leads = rank_ < partner;
    for (std::uint64_t i = 0; i < warmup_; ++i) turn(other, leads);
    std::vector<double> taken_s(messages_);
    for (double& one : taken_s) {
      const std::uint64_t begin = environment_.clock.now_ns();
      turn(other, leads);
      one = base::seconds(environment_.clock.now_ns() - begin) / (way_ == "semi" ? 2.0 : 1.0);
    }
    note_damage(partner);
    return taken_s;
  }
  [[nodiscard]] const std::string& wrong() const noexcept { return wrong_; }

 private:
  void turn(int other, bool leads) {
    const int bytes = static_cast<int>(bytes_);
    wait_if_slow(static_cast<std::uint64_t>(other));
    if (way_ == "both") {
      MPI_Sendrecv(out_.data(), bytes, MPI_BYTE, other, kDataTag, in_.data(), bytes, MPI_BYTE,
                   other, kDataTag, comm_, MPI_STATUS_IGNORE);
      return;
    }
    if (leads) {
      MPI_Send(out_.data(), bytes, MPI_BYTE, other, kDataTag, comm_);
      answer(other, false);
    } else {
      MPI_Recv(in_.data(), bytes, MPI_BYTE, other, kDataTag, comm_, MPI_STATUS_IGNORE);
      answer(other, true);
    }
  }
  /// The way back: the whole message, or one byte that says that it came.
  void answer(int other, bool sends) {
    const int bytes = way_ == "semi" ? static_cast<int>(bytes_) : 1;
    const int tag = way_ == "semi" ? kDataTag : kReplyTag;
    std::byte reply{};
    std::byte* sent = way_ == "semi" ? out_.data() : &reply;
    std::byte* got = way_ == "semi" ? in_.data() : &reply;
    if (sends) {
      MPI_Send(sent, bytes, MPI_BYTE, other, tag, comm_);
    } else {
      MPI_Recv(got, bytes, MPI_BYTE, other, tag, comm_, MPI_STATUS_IGNORE);
    }
  }
  void wait_if_slow(std::uint64_t other) const {
    if (!slow_from_ || rank_ != *slow_from_ || other != slow_to_) return;
    const std::uint64_t end =
        environment_.clock.now_ns() +
        static_cast<std::uint64_t>(environment_.settings.real("slow_s") * 1e9);
    while (environment_.clock.now_ns() < end) {
    }
  }
  /// The first message whose payload is not the partner's.
  void note_damage(std::uint64_t partner) {
    const bool received = way_ != "one" || rank_ > partner;
    if (!received || !wrong_.empty()) return;
    if (environment_.settings.boolean("damage")) in_.data()[bytes_ / 2] ^= std::byte{0x40};
    try {
      check_payload(in_.data(), bytes_, partner,
                    fmt::format("links: message from rank {}", partner));
    } catch (const base::Error& error) {
      wrong_ = error.problem().message;
    }
  }

  const Environment& environment_;
  MPI_Comm comm_;
  std::uint64_t rank_;
  std::uint64_t bytes_;
  std::uint64_t messages_;
  std::uint64_t warmup_;
  std::string way_;
  std::optional<std::uint64_t> slow_from_;
  std::uint64_t slow_to_ = 0;
  base::Buffer out_;
  base::Buffer in_;
  std::string wrong_;
};

/// The order in which the steps are made, the same on all ranks.
std::vector<std::uint64_t> order_of(const Environment& environment) {
  const std::uint64_t ranks = environment.group.size();
  if (environment.settings.word("order") != "fixed") {
    return shuffled_steps(ranks, base::combine(environment.seed, base::key_of("links")));
  }
  std::vector<std::uint64_t> order(pairing_steps(ranks));
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  return order;
}

/// All steps; the pairs of which this rank is the lower one.
std::vector<Pair> measure_all(const Environment& environment, Links& links) {
  const std::uint64_t rank = environment.group.rank();
  const std::uint64_t ranks = environment.group.size();
  const bool serial = environment.settings.word("mode") == "serial";
  std::vector<Pair> own;
  for (const std::uint64_t step : order_of(environment)) {
    environment.tick();
    const auto partner = partner_in(step, rank, ranks);
    environment.group.barrier();
    for (std::uint64_t lower = 0; lower < (serial ? ranks : 1); ++lower) {
      if (serial) {
        const auto other = partner_in(step, lower, ranks);
        if (!other || *other < lower) continue;
        environment.group.barrier();
        if (lower != rank && *other != rank) continue;
      }
      if (!partner) continue;
      std::vector<double> taken_s = links.with(*partner);
      if (rank < *partner) own.push_back({rank, *partner, std::move(taken_s)});
    }
  }
  environment.group.barrier();
  return own;
}

/// On rank 0 the pairs of all ranks, in the order of their ranks.
std::vector<Pair> gathered(const Environment& environment, const std::vector<Pair>& own,
                           std::uint64_t samples) {
  const MPI_Comm comm = communicator_of(environment.group);
  const std::uint64_t width = 2 + samples;
  std::vector<double> mine;
  for (const Pair& pair : own) {
    mine.push_back(static_cast<double>(pair.first));
    mine.push_back(static_cast<double>(pair.second));
    mine.insert(mine.end(), pair.taken_s.begin(), pair.taken_s.end());
  }
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(environment.group.size());
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
  std::vector<int> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  std::vector<double> all(
      environment.group.rank() == 0 ? static_cast<std::size_t>(places.back() + counts.back()) : 0);
  MPI_Gatherv(mine.data(), count, MPI_DOUBLE, all.data(), counts.data(), places.data(), MPI_DOUBLE,
              0, comm);
  std::vector<Pair> pairs;
  for (std::size_t at = 0; at + width <= all.size(); at += width) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    pairs.push_back({static_cast<std::uint64_t>(begin[0]),
                     static_cast<std::uint64_t>(begin[1]),
                     {begin + 2, begin + static_cast<std::ptrdiff_t>(width)}});
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& one, const Pair& other) {
    return std::pair(one.first, one.second) < std::pair(other.first, other.second);
  });
  return pairs;
}

/// The slowest pairs once more, one at a time; on rank 0.
std::vector<Pair> measured_again(const Environment& environment, Links& links,
                                 std::vector<Pair> pairs) {
  const std::uint64_t wanted = environment.settings.integer("slowest");
  std::uint64_t count = std::min<std::uint64_t>(wanted, pairs.size());
  environment.group.broadcast(count);
  std::sort(pairs.begin(), pairs.end(), [](const Pair& one, const Pair& other) {
    return middle(one.taken_s) > middle(other.taken_s);
  });
  std::vector<Pair> own;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t both[2] = {};
    if (environment.group.rank() == 0) {
      both[0] = pairs[i].first;
      both[1] = pairs[i].second;
    }
    environment.group.broadcast(both);
    Pair again{both[0], both[1], {}};
    for (std::uint64_t retest = 0; retest < environment.settings.integer("retests"); ++retest) {
      environment.tick();
      environment.group.barrier();
      const std::uint64_t rank = environment.group.rank();
      if (rank != both[0] && rank != both[1]) continue;
      again.taken_s.push_back(middle(links.with(rank == both[0] ? both[1] : both[0])));
    }
    environment.group.barrier();
    if (environment.group.rank() == both[0]) own.push_back(std::move(again));
  }
  return gathered(environment, own, environment.settings.integer("retests"));
}

schema::KernelSeries series_of_pairs(const std::string& name, const std::vector<Pair>& pairs) {
  schema::KernelSeries series =
      series_of(name, "s", schema::KernelStatistic::kMedian, {{"from", ""}, {"to", ""}});
  for (const Pair& pair : pairs) {
    series.points.push_back(
        {{static_cast<std::int64_t>(pair.first), static_cast<std::int64_t>(pair.second)},
         pair.taken_s,
         ""});
  }
  return series;
}

/// The slowest pair: by its retest where it was measured again.
double slowest(const std::vector<Pair>& pairs, const std::vector<Pair>& again) {
  double most_s = 0.0;
  for (const Pair& pair : pairs) {
    const auto retest = std::find_if(again.begin(), again.end(), [&](const Pair& other) {
      return other.first == pair.first && other.second == pair.second;
    });
    most_s = std::max(most_s, middle(retest == again.end() ? pair.taken_s : retest->taken_s));
  }
  return most_s;
}

void run(const Environment& environment, schema::KernelResult& out) {
  const Pinned pinned(environment.group);
  const std::uint64_t ranks = environment.group.size();
  out.ranks = static_cast<std::int64_t>(ranks);
  environment.together([&] {
    if (ranks > kMostRanks) {
      throw wrong_value(fmt::format("links: {} ranks are more than {}", ranks, kMostRanks));
    }
  });
  note_transport(out);
  note_placement(environment.group, out);
  out.facts.push_back({"message, bytes", std::to_string(environment.settings.bytes("size"))});
  Links links(environment);
  links.reserve();
  std::vector<Pair> own = measure_all(environment, links);
  const bool keeps_all = ranks <= kMostRanksWithSamples;
  for (Pair& pair : own) {
    if (!keeps_all) pair.taken_s = {middle(pair.taken_s)};
  }
  const std::vector<Pair> pairs =
      gathered(environment, own, keeps_all ? environment.settings.integer("messages") : 1);
  const std::vector<Pair> again = measured_again(environment, links, pairs);
  environment.together([&] {
    if (!links.wrong().empty()) throw wrong_value(links.wrong());
  });
  if (environment.group.rank() != 0) return;
  std::vector<double> middles;
  for (const Pair& pair : pairs) middles.push_back(middle(pair.taken_s));
  out.series.push_back(series_of_pairs("time", pairs));
  if (!again.empty()) out.series.push_back(series_of_pairs("retest", again));
  out.series.push_back(single("median", "s", {middle(middles)}));
  out.series.push_back(single("slowest", "s", {slowest(pairs, again)}));
}

}  // namespace

const Entry& links_entry();
const Entry& links_entry() {
  static const Entry entry{run};
  return entry;
}

}  // namespace venturi::kernel

// TCP between pairs of ranks: round trips, then streams for a time, in steps of disjoint pairs.
// The ranks tell each other through their group where they listen. What stays on one machine is
// called loopback, whatever address it takes; only the rest is network.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/random.hpp"
#include "kernel/message_payload.hpp"
#include "kernel/pairing.hpp"
#include "kernel/processor.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"
#include "kernel/tcp_connection.hpp"
#include "kernel/tcp_turn.hpp"

namespace venturi::kernel {
namespace {

constexpr std::uint64_t kMostRanks = 2048;
/// The rank that listens waits longer than the one that connects, which can say more.
constexpr double kListenerWaitsLongerS = 1.0;

using Pair = std::pair<std::uint64_t, std::uint64_t>;

/// What the sender of a pair found out in one sample; nothing where a rank did not send.
struct Row {
  bool is_there = false;
  std::uint64_t to = 0;
  Sent sent;
};

/// A round trip of the lower rank of a pair.
struct Trip {
  bool is_there = false;
  std::uint64_t to = 0;
  double taken_s = 0.0;
};

/// Which address a pair uses, and what the system says of the connection.
struct Route {
  bool is_there = false;
  std::uint64_t to = 0;
  Address address;
  std::uint64_t segment_bytes = 0;
  std::array<char, 16> control{};
};

/// What was measured between two ranks, from the first to the second.
struct Samples {
  std::vector<double> rate;
  std::vector<double> retransmits;
  std::vector<double> smoothed_s;
  std::vector<double> window;
  std::vector<double> delivered;
};

/// All samples of one kind of pairs, on rank 0.
class Kind {
 public:
  void add(const Trip& trip, std::uint64_t from) {
    trips_[{from, trip.to}].push_back(trip.taken_s);
  }
  /// One sample of all pairs that were at work together.
  void add(const std::vector<std::pair<std::uint64_t, Row>>& rows) {
    double total = 0.0;
    for (const auto& [from, row] : rows) {
      Samples& samples = streams_[{from, row.to}];
      const double rate = static_cast<double>(row.sent.bytes) / row.sent.taken_s;
      samples.rate.push_back(rate);
      samples.retransmits.push_back(static_cast<double>(row.sent.retransmits));
      samples.smoothed_s.push_back(row.sent.smoothed_s);
      samples.window.push_back(row.sent.window_bytes);
      samples.delivered.push_back(row.sent.delivered_per_s);
      total += rate;
    }
    if (!rows.empty()) totals_.push_back(total);
  }
  /// The same of a pair that measures once more, alone.
  void add_again(std::uint64_t from, const Row& row) {
    again_[{from, row.to}].push_back(static_cast<double>(row.sent.bytes) / row.sent.taken_s);
  }
  /// The slowest pairs by their slower direction, the slowest first.
  [[nodiscard]] std::vector<Pair> slowest(std::uint64_t most) const {
    std::map<Pair, double> rates;
    for (const auto& [pair, samples] : streams_) {
      const double rate = middle(samples.rate);
      const Pair both = std::minmax(pair.first, pair.second);
      const auto [place, is_new] = rates.try_emplace(both, rate);
      if (!is_new) place->second = std::min(place->second, rate);
    }
    std::vector<std::pair<double, Pair>> order;
    order.reserve(rates.size());
    for (const auto& [pair, rate] : rates) order.emplace_back(rate, pair);
    std::sort(order.begin(), order.end());
    std::vector<Pair> pairs;
    for (const auto& [rate, pair] : order) {
      if (pairs.size() < most) pairs.push_back(pair);
    }
    return pairs;
  }
  void report(const std::string& kind, schema::KernelResult& out) const {
    if (streams_.empty()) return;
    std::vector<double> middles;
    double least = std::numeric_limits<double>::max();
    for (const auto& [pair, samples] : streams_) {
      middles.push_back(middle(samples.rate));
      const auto alone = again_.find(pair);
      least = std::min(least, alone == again_.end() ? middles.back() : middle(alone->second));
    }
    std::vector<double> times;
    times.reserve(trips_.size());
    for (const auto& [pair, samples] : trips_) times.push_back(middle(samples));
    out.series.push_back(single(kind + " bandwidth", "B/s", {middle(middles)}));
    out.series.push_back(single(kind + " slowest pair", "B/s", {least}));
    out.series.push_back(single(kind + " total", "B/s", totals_));
    out.series.push_back(single(kind + " round trip", "s", {middle(times)}));
    schema::KernelSeries trips = of_pairs(kind + " round trip of pair", "s");
    for (const auto& [pair, samples] : trips_) trips.points.push_back(point(pair, samples));
    out.series.push_back(std::move(trips));
    add_series(kind + " bandwidth of pair", "B/s", &Samples::rate, out);
    add_series(kind + " retransmits", "segments", &Samples::retransmits, out);
    add_series(kind + " smoothed round trip", "s", &Samples::smoothed_s, out);
    add_series(kind + " congestion window", "B", &Samples::window, out);
    out.series.back().better = schema::Better::kNone;
    add_series(kind + " delivery rate", "B/s", &Samples::delivered, out);
    if (again_.empty()) return;
    schema::KernelSeries again = of_pairs(kind + " bandwidth of pair alone", "B/s");
    for (const auto& [pair, samples] : again_) again.points.push_back(point(pair, samples));
    out.series.push_back(std::move(again));
  }

 private:
  static schema::KernelPoint point(const Pair& pair, const std::vector<double>& samples) {
    return {{static_cast<std::int64_t>(pair.first), static_cast<std::int64_t>(pair.second)},
            samples,
            ""};
  }
  static schema::KernelSeries of_pairs(const std::string& name, const std::string& unit) {
    return series_of(name, unit, schema::KernelStatistic::kMedian, {{"from", ""}, {"to", ""}});
  }
  void add_series(const std::string& name, const std::string& unit,
                  std::vector<double> Samples::* field, schema::KernelResult& out) const {
    schema::KernelSeries series = of_pairs(name, unit);
    for (const auto& [pair, samples] : streams_) {
      series.points.push_back(point(pair, samples.*field));
    }
    out.series.push_back(std::move(series));
  }

  std::map<Pair, std::vector<double>> trips_;
  std::map<Pair, Samples> streams_;
  std::map<Pair, std::vector<double>> again_;
  std::vector<double> totals_;
};

/// What all ranks found out, on rank 0.
class Report {
 public:
  explicit Report(const Environment& environment)
      : machines_(environment.group.gather(machine_key())) {}

  void add(const std::vector<Trip>& trips) {
    for (std::uint64_t from = 0; from < trips.size(); ++from) {
      if (trips[from].is_there) kind_of({from, trips[from].to}).add(trips[from], from);
    }
  }
  /// From now on single pairs are measured again.
  void begin_again() { is_again_ = true; }
  [[nodiscard]] std::vector<Pair> slowest(std::uint64_t most) const {
    const std::vector<Pair> pairs = network_.slowest(most);
    return pairs.empty() ? loopback_.slowest(most) : pairs;
  }
  void add(const std::vector<Row>& rows) {
    std::vector<std::pair<std::uint64_t, Row>> parts[2];
    for (std::uint64_t from = 0; from < rows.size(); ++from) {
      if (!rows[from].is_there) continue;
      if (is_again_) {
        kind_of({from, rows[from].to}).add_again(from, rows[from]);
        continue;
      }
      parts[stays({from, rows[from].to}) ? 1 : 0].emplace_back(from, rows[from]);
    }
    network_.add(parts[0]);
    loopback_.add(parts[1]);
  }
  void add(const std::vector<Route>& routes, schema::KernelResult& out) {
    for (std::uint64_t from = 0; from < routes.size(); ++from) {
      const Route& route = routes[from];
      if (!route.is_there || is_again_) continue;
      if (addresses_.empty()) {
        out.facts.push_back({"congestion control", route.control.data()});
        out.facts.push_back({"segment, bytes", std::to_string(route.segment_bytes)});
      }
      addresses_ += fmt::format("{}{}-{} {}", addresses_.empty() ? "" : ", ", from, route.to,
                                route.address.text());
    }
  }
  void finish(schema::KernelResult& out) const {
    out.facts.push_back({"address of each pair", addresses_});
    network_.report("network", out);
    loopback_.report("loopback", out);
  }

 private:
  /// Whether both ranks are on one machine.
  [[nodiscard]] bool stays(const Pair& pair) const {
    return machines_[pair.first] == machines_[pair.second];
  }
  Kind& kind_of(const Pair& pair) { return stays(pair) ? loopback_ : network_; }

  std::vector<std::uint64_t> machines_;
  Kind network_;
  Kind loopback_;
  std::string addresses_;
  bool is_again_ = false;
};

/// The ranks that measure: one of each node, two where there is one node, or all.
std::vector<std::uint64_t> members_of(const Environment& environment) {
  const comm::Placement& placement = environment.group.placement();
  std::vector<std::uint64_t> members;
  if (environment.settings.word("ranks") == "nodes" && placement.hosts.size() > 1) {
    for (std::size_t node = 0; node < placement.hosts.size(); ++node) {
      const auto& nodes = placement.node_of_rank;
      const auto first = std::find(nodes.begin(), nodes.end(), node);
      members.push_back(static_cast<std::uint64_t>(first - nodes.begin()));
    }
    std::sort(members.begin(), members.end());
    return members;
  }
  members.resize(environment.settings.word("ranks") == "all" ? environment.group.size() : 2);
  std::iota(members.begin(), members.end(), std::uint64_t{0});
  return members;
}

/// The steps that are made, in the same random order on all ranks.
std::vector<std::uint64_t> steps_of(const Environment& environment, std::uint64_t members) {
  const std::uint64_t key = base::combine(environment.seed, base::key_of("tcp_pairs"));
  std::vector<std::uint64_t> order = shuffled_steps(members, key);
  order.resize(std::min<std::uint64_t>(order.size(), environment.settings.integer("steps")));
  return order;
}

/// One step: this rank and its partner, or a rank that pauses. All functions are collective.
class TcpStep {
 public:
  TcpStep(const Environment& environment, std::optional<std::uint64_t> partner)
      : environment_(environment),
        rank_(environment.group.rank()),
        partner_(partner),
        whom_(partner ? who(*partner) : ""),
        waiting_{environment.settings.real("limit_s"), environment.tick} {}

  void connect(Report& report, schema::KernelResult& out) {
    const std::uint64_t streams = environment_.settings.integer("streams");
    const std::string wanted = environment_.settings.text("address");
    std::vector<Address> own;
    std::optional<Listener> listener;
    environment_.together([&] {
      if (!partner_) return;
      own = own_addresses(wanted, who(rank_));
      if (!leads()) listener.emplace(own, !wanted.empty());
    });
    if (!wanted.empty() && !own.empty()) own.resize(1);
    Invitation invitation;
    if (listener) {
      invitation = listener->invitation();
      environment_.group.send(*partner_, std::as_bytes(std::span(&invitation, 1)));
    } else if (partner_) {
      environment_.group.receive(*partner_, std::as_writable_bytes(std::span(&invitation, 1)));
    }
    environment_.together([&] {
      const Waiting longer{waiting_.limit_s + kListenerWaitsLongerS, waiting_.tick};
      if (listener) connections_ = listener->accept(streams, longer, whom_);
      if (!partner_ || listener) return;
      if (wanted.empty()) own.clear();
      connections_ = connect_to(invitation, streams, own, waiting_, whom_);
    });
    Route route;
    if (leads()) {
      route = {true, *partner_, connections_.address, 0, {}};
      route.segment_bytes = tcp_state(connections_.control.get()).segment_bytes;
      congestion_control(connections_.control.get()).copy(route.control.data(), 15);
    }
    report.add(environment_.group.gather(route), out);
  }

  void round_trips(Report& report) {
    const std::uint64_t messages = environment_.settings.integer("messages");
    std::vector<double> taken_s(messages);
    environment_.group.start(environment_.clock);
    environment_.together([&] {
      if (!partner_) return;
      round_trip(0);  // the first one wakes everything up
      for (std::uint64_t i = 0; i < messages; ++i) taken_s[i] = round_trip(i + 1);
    });
    for (const double one : taken_s) {
      Trip trip;
      if (leads()) trip = {true, *partner_, one};
      report.add(environment_.group.gather(trip));
    }
  }

  void streams(Report& report) {
    std::optional<TcpTurns> turns;
    environment_.together([&] {
      if (!partner_) return;
      const std::uint64_t block = environment_.settings.bytes("block");
      check_memory(environment_.group, 2 * block * connections_.streams.size(), "tcp_pairs");
      turns.emplace(connections_, block, rank_, *partner_);
    });
    const std::string way = environment_.settings.word("way");
    if (way == "both") {
      one_way(turns, true, true, report);
      return;
    }
    one_way(turns, leads(), !leads(), report);
    if (way == "turns") one_way(turns, !leads(), leads(), report);
  }

 private:
  [[nodiscard]] bool leads() const { return partner_ && rank_ < *partner_; }
  [[nodiscard]] std::string who(std::uint64_t rank) const {
    const comm::Placement& placement = environment_.group.placement();
    return fmt::format("rank {} on {}", rank, placement.hosts[placement.node_of_rank[rank]]);
  }

  double round_trip(std::uint64_t number) {
    const std::uint64_t bytes = environment_.settings.bytes("message");
    message_.resize(bytes);
    const std::span<std::byte> message(message_);
    const int socket = connections_.control.get();
    if (leads()) fill_payload(message_.data(), bytes, number);
    const std::uint64_t begin = environment_.clock.now_ns();
    if (leads()) send_whole(socket, message, waiting_, whom_);
    receive_whole(socket, message, waiting_, whom_);
    if (!leads()) send_whole(socket, message, waiting_, whom_);
    const double taken_s = base::seconds(environment_.clock.now_ns() - begin);
    check_payload(message_.data(), bytes, number, fmt::format("tcp_pairs: message from {}", whom_));
    return taken_s;
  }

  /// A turn that does not count, in which each block is compared; then the samples.
  void one_way(std::optional<TcpTurns>& turns, bool sends, bool receives, Report& report) {
    TurnPlan plan{.sends = sends,
                  .receives = receives,
                  .send_s = environment_.settings.real("sample_s"),
                  .checks_all = true,
                  .is_damaged = environment_.settings.boolean("damage")};
    for (std::uint64_t sample = 0; sample <= environment_.settings.integer("samples"); ++sample) {
      Row row;
      environment_.tick();
      environment_.group.start(environment_.clock);
      environment_.together([&] {
        if (!turns) return;
        const Sent sent = turns->run(plan, environment_.clock, waiting_, whom_);
        if (sends) row = {true, *partner_, sent};
      });
      if (!plan.checks_all) report.add(environment_.group.gather(row));
      plan.checks_all = false;
    }
  }

  const Environment& environment_;
  std::uint64_t rank_;
  std::optional<std::uint64_t> partner_;
  std::string whom_;
  Waiting waiting_;
  Connections connections_;
  std::vector<std::byte> message_;
};

/// The slowest pairs once more, one at a time: among others they may only have had to share.
void measure_again(const Environment& environment, Report& report, schema::KernelResult& out) {
  const std::vector<Pair> pairs = report.slowest(environment.settings.integer("slowest"));
  std::uint64_t count = pairs.size();
  environment.group.broadcast(count);
  report.begin_again();
  const std::uint64_t rank = environment.group.rank();
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t both[2] = {};
    if (rank == 0) {
      both[0] = pairs[i].first;
      both[1] = pairs[i].second;
    }
    environment.group.broadcast(both);
    std::optional<std::uint64_t> partner;
    if (rank == both[0]) partner = both[1];
    if (rank == both[1]) partner = both[0];
    TcpStep one(environment, partner);
    one.connect(report, out);
    one.streams(report);
  }
}

void run(const Environment& environment, schema::KernelResult& out) {
  const std::vector<std::uint64_t> members = members_of(environment);
  out.ranks = static_cast<std::int64_t>(members.size());
  environment.together([&] {
    if (members.size() > kMostRanks) {
      throw wrong_value(
          fmt::format("tcp_pairs: {} ranks are more than {}", members.size(), kMostRanks));
    }
  });
  note_placement(environment.group, out);
  Report report(environment);
  const auto own = std::find(members.begin(), members.end(), environment.group.rank());
  for (const std::uint64_t step : steps_of(environment, members.size())) {
    std::optional<std::uint64_t> partner;
    if (own != members.end()) {
      const auto place =
          partner_in(step, static_cast<std::uint64_t>(own - members.begin()), members.size());
      if (place) partner = members[*place];
    }
    TcpStep one(environment, partner);
    one.connect(report, out);
    one.round_trips(report);
    one.streams(report);
  }
  if (members.size() > 2) measure_again(environment, report, out);
  if (environment.group.rank() == 0) report.finish(out);
}

}  // namespace

const Description& tcp_pairs_description();
const Description& tcp_pairs_description() {
  static const Description description{
      .about =
          "TCP between pairs of ranks on different nodes: round trips and streams; between ranks "
          "of one machine it is called loopback",
      .likeness = "iperf class",
      .least_ranks = 2,
      .figures = {{"network bandwidth", "B/s", "the median over pairs of a pair's median"},
                  {"network slowest pair", "B/s",
                   "the least of the pairs' medians; of those measured again, alone, that one"},
                  {"network total", "B/s", "all pairs that are at work at once, their sum"},
                  {"network round trip", "s", "a small message and its answer, median over pairs"},
                  {"loopback bandwidth", "B/s", "the median over pairs of one machine, no network"},
                  {"loopback slowest pair", "B/s", "the same between ranks of one machine"},
                  {"loopback total", "B/s", "all pairs on one machine at once, their sum"},
                  {"loopback round trip", "s", "a small message and its answer on one machine"}},
      .options =
          {{"ranks", "word", "nodes",
            "one rank of each node, or two where there is one node; or all ranks", "nodes|all"},
           {"steps", "integer", "4",
            "at most so many steps of pairs; in n - 1 steps each two ranks meet", "1 to 2047", 1.0,
            2047.0},
           {"slowest", "integer", "2",
            "so many pairs are measured again, one at a time, where there are several pairs",
            "0 to 1000", 0.0, 1000.0},
           {"way", "word", "turns",
            "streams go one way and then the other, both ways at once, or one way",
            "turns|both|one"},
           {"streams", "integer", "1", "connections of a pair", "1 to 64", 1.0, 64.0},
           {"block", "bytes", "128 KiB", "one send", "1 B to 16 MiB", 1.0, 0x1p24},
           {"samples", "integer", "5", "so many samples of each pair and way", "1 to 100000", 1.0,
            1e5},
           {"sample_s", "real", "1", "a sample sends for so long, in seconds", "0.001 to 3600",
            0.001, 3600.0},
           {"message", "bytes", "1", "a message of a round trip", "1 B to 64 KiB", 1.0, 0x1p16},
           {"messages", "integer", "100", "round trips of each pair", "1 to 100000", 1.0, 1e5},
           {"address", "text", "",
            "where ranks listen and connect from: an interface, an address or a network such as "
            "10.1.0.0/16; empty: by any address that answers",
            "an interface, an address or a network"},
           {"limit_s", "real", "5", "how long a rank waits for another one, in seconds",
            "0.1 to 600", 0.1, 600.0},
           kDamageOption},
  };
  return description;
}

const Entry& tcp_pairs_entry();
const Entry& tcp_pairs_entry() {
  static const Entry entry{run};
  return entry;
}

}  // namespace venturi::kernel

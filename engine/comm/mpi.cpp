// A group of MPI processes; the only file of the engine's core that knows mpi.h.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "comm/back_off.hpp"
#include "comm/exit_channel.hpp"
#include "comm/launch.hpp"
#include "comm/launcher_environment.hpp"
#include "comm/mpi_notes.hpp"
#include "comm/problem_text.hpp"
#include "comm/shared_page.hpp"
#include "comm/watch.hpp"
#include "comm/watchdog.hpp"

namespace venturi::comm {
namespace {

constexpr int kAbortTag = 1;
constexpr int kClockTag = 2;
constexpr int kDataTag = 3;
constexpr int kSharedPageTag = 4;
constexpr int kTellTag = 5;
/// How long rank 0 waits for the others to stop, and they for rank 0 to end the job.
constexpr std::uint64_t kGraceNs = 3'000'000'000;

MPI_Op operation_of(Reduction how) {
  if (how == Reduction::kSum) return MPI_SUM;
  return how == Reduction::kMinimum ? MPI_MIN : MPI_MAX;
}

/// What all groups of one process share: how aborts travel, and the counters of its node.
class World {
 public:
  explicit World(Watchdog& watchdog) : watchdog_(watchdog) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() { leave(); }

  /// Makes the counters, and has somebody watch them. Collective. Throws base::Error.
  void share_counters(const Placement& placement);
  [[nodiscard]] Counters& own_counters() noexcept { return *own_; }
  /// The counters of a rank on this node, by its number among those of the node.
  [[nodiscard]] Counters* counters(std::size_t on_node) noexcept {
    return &shared_page_->counters()[on_node];
  }
  /// This rank's silence means nothing any more.
  void leave() noexcept {
    if (own_ != nullptr) own_->state.store(Counters::kLeft, std::memory_order_release);
  }
  [[nodiscard]] SharedPage& shared_page() noexcept { return *shared_page_; }
  [[nodiscard]] bool is_complete() const noexcept { return own_ != nullptr; }

  /// Whether some rank's library must not see MPI end. Collective.
  [[nodiscard]] bool any_holds_broken() const {
    std::uint64_t any = own_->holds_broken.load(std::memory_order_relaxed);
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return any != 0;
  }
  [[nodiscard]] bool is_first() const noexcept { return rank_ == 0; }
  void check() {
    if (shared_page_->aborted()) throw base::Broken(shared_page_->problem());
    see_others_stop();
  }
  /// Throws if another rank says that it stopped.
  void see_others_stop() {
    int arrived = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, kAbortTag, control_, &arrived, MPI_STATUS_IGNORE);
    if (arrived != 0) throw base::Broken(receive_problem());
  }
  void abort(const base::Problem& problem) noexcept;
  /// Rank 0: waits, for a bounded time, until all others have said that they stopped.
  void collect();
  /// Those that did not say so, as words.
  [[nodiscard]] std::string unheard() const;
  /// Waits for a request; sees aborts meanwhile.
  void finish(MPI_Request& request, const Poll& poll, BackOff back_off = {});

  void tell(std::size_t to, std::uint64_t event, std::uint64_t at_ns);
  EventCount event_count(std::uint64_t event) {
    hear();
    return told_[event];
  }
  void forget_told(const Poll& poll);

 private:
  base::Problem receive_problem() {
    ProblemText text;
    MPI_Status status;
    MPI_Recv(&text, sizeof text, MPI_BYTE, MPI_ANY_SOURCE, kAbortTag, control_, &status);
    stopped_.insert(status.MPI_SOURCE);
    return text.get();
  }

  /// An event and when it happened.
  using News = std::array<std::uint64_t, 2>;

  /// News on the way: their memory must stay.
  struct Letter {
    News news{};
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// Takes in all news that have arrived.
  void hear();
  /// Whether all of this rank's news have left it.
  bool have_left();

  int rank_ = 0;
  int size_ = 1;
  /// Messages of a tag of their own travel beside collectives, never between them; a communicator
  /// of their own would take as long as six collectives when 64 ranks share two cores.
  const MPI_Comm control_ = MPI_COMM_WORLD;
  Watchdog& watchdog_;
  std::optional<SharedPage> shared_page_;
  Counters* own_ = nullptr;
  /// Ranks whose word that they stopped has arrived here.
  std::set<int> stopped_;
  ProblemText outgoing_;
  std::map<std::uint64_t, EventCount> told_;
  std::list<Letter> letters_;
  /// Letters to each rank; empty before the first.
  std::vector<std::uint64_t> sent_;
  std::uint64_t heard_ = 0;
};

void World::tell(std::size_t to, std::uint64_t event, std::uint64_t at_ns) {
  if (std::cmp_equal(to, rank_)) return told_[event].add(at_ns);
  sent_.resize(static_cast<std::size_t>(size_));
  ++sent_[to];
  Letter& letter = letters_.emplace_back(Letter{{event, at_ns}});
  MPI_Isend(letter.news.data(), 2, MPI_UINT64_T, static_cast<int>(to), kTellTag, control_,
            &letter.request);
  have_left();
}

bool World::have_left() {
  letters_.remove_if([](Letter& letter) {
    int left = 0;
    MPI_Test(&letter.request, &left, MPI_STATUS_IGNORE);
    return left != 0;
  });
  return letters_.empty();
}

void World::hear() {
  for (int arrived = 1; arrived != 0;) {
    MPI_Iprobe(MPI_ANY_SOURCE, kTellTag, control_, &arrived, MPI_STATUS_IGNORE);
    if (arrived == 0) continue;
    News news{};
    MPI_Recv(news.data(), 2, MPI_UINT64_T, MPI_ANY_SOURCE, kTellTag, control_, MPI_STATUS_IGNORE);
    told_[news[0]].add(news[1]);
    ++heard_;
  }
}

// Nobody tells anything new before all have come to the end of this.
void World::forget_told(const Poll& poll) {
  sent_.resize(static_cast<std::size_t>(size_));
  std::uint64_t expected = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ireduce_scatter_block(sent_.data(), &expected, 1, MPI_UINT64_T, MPI_SUM, control_, &request);
  finish(request, poll);
  BackOff back_off;
  for (hear(); heard_ < expected || !have_left(); hear()) {
    check();
    if (poll) poll();
    back_off.wait();
  }
  told_.clear();
  sent_.clear();
  heard_ = 0;
  MPI_Ibarrier(control_, &request);
  finish(request, poll);
}

// The first rank of a node makes the board and tells the others its name; the board itself shows
// who has come.
void World::share_counters(const Placement& placement) {
  const std::size_t node = placement.node_of_rank[placement.rank];
  std::vector<int> members;
  for (std::size_t rank = 0; rank < placement.size; ++rank) {
    if (placement.node_of_rank[rank] == node) members.push_back(static_cast<int>(rank));
  }
  const bool leads = members.front() == rank_;
  std::array<char, 64> name{};
  if (leads) {
    shared_page_.emplace(members.size());
    std::copy_n(shared_page_->name().data(), std::min(shared_page_->name().size(), name.size() - 1),
                name.data());
    for (const int member : members) {
      if (member == rank_) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(name.data(), name.size(), MPI_CHAR, member, kSharedPageTag, control_, &request);
      wait_for([&] { return is_done(request); });
    }
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(name.data(), name.size(), MPI_CHAR, members.front(), kSharedPageTag, control_,
              &request);
    wait_for([&] { return is_done(request); });
    shared_page_.emplace(name.data(), members.size());
  }
  const auto own = std::find(members.begin(), members.end(), rank_) - members.begin();
  own_ = &shared_page_->counters()[static_cast<std::size_t>(own)];
  enter(*own_, placement.rank);
  if (!leads) return watchdog_.dismiss();
  const auto counters = shared_page_->counters();
  for (const Counters& member : counters) {
    wait_for([&] { return member.state.load(std::memory_order_acquire) != Counters::kNotStarted; });
  }
  watchdog_.watch(*shared_page_, members.size(), placement.hosts[node], rank_ == 0);
  shared_page_->forget_name();
}

std::string World::unheard() const {
  std::string text;
  constexpr std::size_t kMostNamed = 8;
  std::size_t count = 0;
  for (int rank = 1; rank < size_; ++rank) {
    if (stopped_.contains(rank) || ++count > kMostNamed) continue;
    text += fmt::format("{}{}", count == 1 ? "rank " : ", ", rank);
  }
  return count > kMostNamed ? fmt::format("{} and {} more", text, count - kMostNamed) : text;
}

void World::finish(MPI_Request& request, const Poll& poll, BackOff back_off) {
  while (!is_done(request)) {
    if (back_off.idle()) {
      check();
      if (poll) poll();
    }
    back_off.wait();
  }
}

void World::abort(const base::Problem& problem) noexcept {
  outgoing_.set(problem);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto send_to = [&](int rank) {
    MPI_Isend(&outgoing_, sizeof outgoing_, MPI_BYTE, rank, kAbortTag, control_, &request);
    MPI_Request_free(&request);
  };
  if (rank_ != 0) return send_to(0);
  for (int rank = 1; rank < size_; ++rank) send_to(rank);
}

void World::collect() {
  BackOff back_off;
  const std::uint64_t end = base::monotonic_ns() + kGraceNs;
  while (std::cmp_less(stopped_.size() + 1, size_) && base::monotonic_ns() < end) {
    try {
      see_others_stop();
    } catch (const base::Broken&) {
      continue;  // one more rank has stopped
    }
    back_off.wait();
  }
}

/// All ranks of the job, or some of them.
class Mpi : public Channel {
 public:
  explicit Mpi(World& world) : world_(world), comm_(MPI_COMM_WORLD) {
    be_placed();
    name_nodes();
    world_.share_counters(placement_);
    number_on_nodes();
    find_visible();
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  ~Mpi() override {
    // After a broken group the others may be anywhere.
    if (comm_ != MPI_COMM_WORLD && std::uncaught_exceptions() == 0) MPI_Comm_free(&comm_);
  }

  [[nodiscard]] const Placement& placement() const noexcept override { return placement_; }
  [[nodiscard]] std::string name() const override { return "mpi, " + mpi_library(); }

  void barrier(const Poll& poll) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm_, &request);
    world_.finish(request, poll);
  }
  void meet(const Poll& poll) override {
    barrier(poll);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm_, &request);
    const bool has_core = visible_.size() <= std::thread::hardware_concurrency();
    world_.finish(request, poll, has_core ? BackOff(kMeetNs) : BackOff());
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
    MPI_Igather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, comm_, &request);
    world_.finish(request, poll);
  }
  void broadcast(std::span<std::byte> data, const Poll& poll) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, 0, comm_, &request);
    world_.finish(request, poll);
  }
  void send(std::size_t to, std::span<const std::byte> data, const Poll& poll) override {
    for (std::size_t begin = 0; begin < data.size(); begin += kMostMessageBytes) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(&data[begin], message_bytes(data.size() - begin), MPI_BYTE, static_cast<int>(to),
                kDataTag, comm_, &request);
      world_.finish(request, poll);
    }
  }
  void receive(std::size_t from, std::span<std::byte> data, const Poll& poll) override {
    for (std::size_t begin = 0; begin < data.size(); begin += kMostMessageBytes) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(&data[begin], message_bytes(data.size() - begin), MPI_BYTE, static_cast<int>(from),
                kDataTag, comm_, &request);
      world_.finish(request, poll);
    }
  }
  bool put_note(std::size_t to, std::span<const std::byte> data) override {
    return notes_.put(comm_, to, data);
  }
  std::optional<std::size_t> take_note(std::vector<std::byte>& out) override {
    return notes_.take(comm_, out);
  }
  void tell(std::size_t to, std::uint64_t event, std::uint64_t at_ns) override {
    world_.tell(to, event, at_ns);
  }
  EventCount event_count(std::uint64_t event) override { return world_.event_count(event); }
  void forget_told(const Poll& poll) override { world_.forget_told(poll); }
  std::unique_ptr<Channel> split(std::uint64_t color, const Poll& poll) override;
  [[nodiscard]] std::optional<int> communicator() const noexcept override {
    return static_cast<int>(MPI_Comm_c2f(comm_));
  }

  std::int64_t clock_offset_ns(const base::Clock& clock, std::uint64_t& uncertainty_ns) override;

  [[nodiscard]] Counters& own_counters() noexcept override { return world_.own_counters(); }
  [[nodiscard]] std::span<Counters* const> visible_counters() noexcept override { return visible_; }

  void check() override { world_.check(); }
  void abort(const base::Problem& problem) noexcept override { world_.abort(problem); }
  bool take_notice(Notice& out) override {
    return world_.is_first() && world_.shared_page().message_slot().take(out);
  }

 private:
  static constexpr std::size_t kMostMessageBytes = std::size_t{1} << 30U;
  static int message_bytes(std::size_t left) noexcept {
    return static_cast<int>(std::min(left, kMostMessageBytes));
  }

  /// Some of the ranks of another group.
  Mpi(const Mpi& whole, MPI_Comm comm) : world_(whole.world_), comm_(comm) {
    be_placed();
    inherit_nodes(whole);
    find_visible();
  }

  void be_placed();
  void name_nodes();
  void number_on_nodes();
  void inherit_nodes(const Mpi& whole);
  void find_visible();
  [[nodiscard]] std::size_t leader_of(std::size_t node) const {
    const auto& nodes = placement_.node_of_rank;
    return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  }
  void reduce_any(void* values, std::size_t count, MPI_Datatype type, Reduction how,
                  const Poll& poll) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(count), type, operation_of(how), comm_,
                   &request);
    world_.finish(request, poll);
  }

  World& world_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Placement placement_;
  /// For each rank, which of all ranks of its node it is.
  std::vector<std::size_t> on_node_;
  std::vector<Counters*> visible_;
  MpiNotes notes_;
};

void Mpi::be_placed() {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &size);
  placement_.rank = static_cast<std::size_t>(rank);
  placement_.size = static_cast<std::size_t>(size);
}

void Mpi::name_nodes() {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name mine{};
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::vector<Name> all(placement_.size);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(mine.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME,
                 MPI_CHAR, comm_, &request);
  wait_for([&] { return is_done(request); });
  std::map<std::string, std::size_t> numbers;
  for (const Name& name : all) {
    const auto [found, is_new] = numbers.emplace(name.data(), numbers.size());
    if (is_new) placement_.hosts.emplace_back(name.data());
    placement_.node_of_rank.push_back(found->second);
  }
}

void Mpi::number_on_nodes() {
  std::vector<std::size_t> next(placement_.hosts.size(), 0);
  for (const std::size_t node : placement_.node_of_rank) on_node_.push_back(next[node]++);
}

void Mpi::inherit_nodes(const Mpi& whole) {
  MPI_Group mine = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(comm_, &mine);
  MPI_Comm_group(whole.comm_, &all);
  std::vector<int> ranks(placement_.size);
  std::vector<int> before(placement_.size);
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group_translate_ranks(mine, static_cast<int>(ranks.size()), ranks.data(), all, before.data());
  MPI_Group_free(&mine);
  MPI_Group_free(&all);
  std::map<std::size_t, std::size_t> numbers;
  for (const int rank : before) {
    const auto index = static_cast<std::size_t>(rank);
    const std::size_t node = whole.placement_.node_of_rank[index];
    const auto [found, is_new] = numbers.emplace(node, numbers.size());
    if (is_new) placement_.hosts.push_back(whole.placement_.hosts[node]);
    placement_.node_of_rank.push_back(found->second);
    on_node_.push_back(whole.on_node_[index]);
  }
}

void Mpi::find_visible() {
  const std::size_t node = placement_.node_of_rank[placement_.rank];
  for (std::size_t rank = 0; rank < placement_.size; ++rank) {
    if (placement_.node_of_rank[rank] == node) visible_.push_back(world_.counters(on_node_[rank]));
  }
}

// MPI's colours are positive ints, so the first rank of a colour stands for it. MPI_Comm_split
// cannot be polled, but when the colours are known all ranks have come to it.
std::unique_ptr<Channel> Mpi::split(std::uint64_t color, const Poll& poll) {
  std::vector<std::uint64_t> colors(placement_.size);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&color, 1, MPI_UINT64_T, colors.data(), 1, MPI_UINT64_T, comm_, &request);
  world_.finish(request, poll);
  const auto first = std::find(colors.begin(), colors.end(), color) - colors.begin();
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(comm_, static_cast<int>(first), static_cast<int>(placement_.rank), &comm);
  return std::unique_ptr<Mpi>(new Mpi(*this, comm));
}

std::int64_t Mpi::clock_offset_ns(const base::Clock& clock, std::uint64_t& uncertainty_ns) {
  constexpr int kRounds = 100;
  uncertainty_ns = 0;
  const std::size_t nodes = placement_.hosts.size();
  if (nodes < 2) return 0;
  const std::size_t node = placement_.node_of_rank[placement_.rank];
  // Offset and uncertainty of each node: zeros but in the one that this rank measures.
  std::vector<std::int64_t> found(2 * nodes, 0);
  if (placement_.rank == 0) {
    for (std::size_t other = 1; other < nodes; ++other) {
      for (int round = 0; round < kRounds; ++round) {
        const int peer = static_cast<int>(leader_of(other));
        std::uint64_t now = 0;
        MPI_Recv(&now, 1, MPI_UINT64_T, peer, kClockTag, comm_, MPI_STATUS_IGNORE);
        now = clock.now_ns();
        MPI_Send(&now, 1, MPI_UINT64_T, peer, kClockTag, comm_);
      }
    }
  } else if (leader_of(node) == placement_.rank && node != 0) {
    std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
    for (int round = 0; round < kRounds; ++round) {
      std::uint64_t theirs = 0;
      const std::uint64_t sent = clock.now_ns();
      MPI_Send(&sent, 1, MPI_UINT64_T, 0, kClockTag, comm_);
      MPI_Recv(&theirs, 1, MPI_UINT64_T, 0, kClockTag, comm_, MPI_STATUS_IGNORE);
      const std::uint64_t width = clock.now_ns() - sent;
      if (width >= narrowest) continue;
      narrowest = width;
      found[2 * node] =
          static_cast<std::int64_t>(theirs) - static_cast<std::int64_t>(sent + width / 2);
      found[2 * node + 1] = static_cast<std::int64_t>(width / 2);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, found.data(), static_cast<int>(found.size()), MPI_INT64_T, MPI_SUM,
                comm_);
  uncertainty_ns = static_cast<std::uint64_t>(found[2 * node + 1]);
  return found[2 * node];
}

[[noreturn]] void abort_job(int exit_code) {
  let_output_arrive();
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  _exit(exit_code);
}

/// The group broke: rank 0 says why once the others have stopped, and ends the job.
[[noreturn]] void end_job(const Launch& how, World& world, base::Problem problem) {
  world.leave();
  if (!world.is_complete()) {
    fmt::print(stderr, "venturi-engine: {}\n", problem.message);
    abort_job(problem.exit_code);
  }
  world.abort(problem);
  world.shared_page().abort(problem);  // rank 0 may hang where no message is read
  if (world.is_first()) {
    world.collect();
    const std::string unheard = world.unheard();
    if (!unheard.empty()) problem.message += fmt::format("; no answer from {}", unheard);
    world.shared_page().report([&] { how.on_broken(problem); });
  } else {
    pause_for(2 * kGraceNs);
    // Rank 0 has not ended the job in all this time, so it may not have said why.
    fmt::print(stderr, "venturi-engine: {}\n", problem.message);
  }
  abort_job(problem.exit_code);
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

int launch_mpi(const Launch& how) {
  Watchdog watchdog(how);
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (static_cast<std::size_t>(size) != how.ranks) refuse(how, static_cast<std::size_t>(size));
  how.on_started();
  int code = base::kExitFailed;
  {
    World world(watchdog);
    try {
      Group group(std::make_unique<Mpi>(world));
      code = how.body(group);
      if (world.any_holds_broken() && code != 0) abort_job(code);
    } catch (const base::Error& error) {
      end_job(how, world, error.problem());
    } catch (const std::exception& error) {
      end_job(how, world, {.code = "fault", .message = error.what(), .exit_code = 1});
    }
  }
  watchdog.dismiss();
  MPI_Finalize();
  return code;
}

}  // namespace venturi::comm

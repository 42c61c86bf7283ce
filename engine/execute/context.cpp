// The state of a rank: trouble, waiting, progress, names and what was noted about files.
#include "execute/context.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/random.hpp"
#include "base/room.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {
namespace {

/// What no signal is called.
constexpr std::uint64_t kFailedElsewhere = base::key_of(std::string_view("\0failed", 7));

constexpr auto kRankSlot = static_cast<std::size_t>(schema::Slot::kRank);
constexpr auto kNodeSlot = static_cast<std::size_t>(schema::Slot::kNode);
constexpr auto kNodeRankSlot = static_cast<std::size_t>(schema::Slot::kNodeRank);
constexpr auto kNodeRanksSlot = static_cast<std::size_t>(schema::Slot::kNodeRanks);

pattern::Value number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// Which ranks share a node.
pattern::Neighbours neighbours_of(const comm::Group& group) {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(group.size());
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    nodes.push_back(static_cast<std::uint32_t>(group.node_of(rank)));
  }
  return pattern::Neighbours(std::move(nodes));
}

/// Throws if SIGINT or SIGTERM is waiting; both are blocked, so nothing is torn.
void check_signals() {
  sigset_t waiting;
  if (sigpending(&waiting) != 0) return;
  if (sigismember(&waiting, SIGINT) == 0 && sigismember(&waiting, SIGTERM) == 0) return;
  throw base::Broken({.code = "interrupted",
                      .message = "a signal asked the engine to stop",
                      .exit_code = base::kExitInterrupted});
}

/// Operations for which storage may need room.
bool takes_room(schema::OperationKind kind) {
  using enum schema::OperationKind;
  return kind == kWrite || kind == kCreate || kind == kOpen || kind == kSync || kind == kClose ||
         kind == kCopy;
}

/// What can be known where the cause was lost: libraries say of a full disk that something failed,
/// or that less was written.
const char* likely_cause(const measure::Fault& fault, const std::string& directory) {
  const bool is_short = fault.error == 0 && fault.kind == schema::OperationKind::kWrite;
  const bool is_vague = is_short || fault.error == EIO;
  return is_vague && takes_room(fault.kind) && base::is_full(directory.c_str())
             ? " (the file system is full)"
             : "";
}

/// Seconds of waiting as nanoseconds. Throws base::Error (exit 2) for more than a clock can count.
std::uint64_t waiting_ns(double seconds) {
  constexpr double kMostS = 1e9;
  if (!(seconds >= 0.0 && seconds <= kMostS)) {
    throw base::plan_error(
        "seconds", fmt::format("a wait of {} s is not between 0 and {} s", seconds, kMostS));
  }
  return static_cast<std::uint64_t>(std::llround(seconds * base::kNsPerS));
}

/// Throws base::Error (exit 2) for requests that would make this machine swap.
void refuse_too_much(std::uint64_t bytes) {
  static const auto memory_pages =
      static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  if (bytes / 4096 <= memory_pages / 2) return;
  throw base::plan_error("size", fmt::format("a request of {} bytes (or all in flight together) is "
                                             "more than half of this machine's memory",
                                             bytes));
}

}  // namespace

Context::Context(const schema::Plan& the_plan, const Part& the_part, comm::Group& the_group,
                 comm::Group& the_world, base::Clock& the_clock, Report report)
    : plan(the_plan),
      part(the_part),
      group(the_group),
      world(the_world),
      clock(the_clock),
      signals(the_plan, the_world),
      writes(the_part.plan->program),
      slots(the_plan.slots.size()),
      report_(std::move(report)),
      idle_meter_(std::make_unique<measure::Meter>(0)),
      damage_log_(the_plan.journal, the_world.rank()),
      run_key_(base::key_of(the_plan.run)) {
  group.set_poll([this] { poll(); });
  if (&world != &group) world.set_poll([this] { poll(); });
  using enum schema::Slot;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    const std::size_t node = group.node_of(rank);
    if (node >= ranks_of_node_.size()) ranks_of_node_.resize(node + 1);
    place_on_node_.push_back(ranks_of_node_[node]++);
  }
  const std::size_t on_node = ranks_of_node_[group.node_of(group.rank())];
  has_processor_ = on_node <= static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  take_place_of(group.rank());
  slots[static_cast<std::size_t>(kRanks)] = number(group.size());
  slots[static_cast<std::size_t>(kWorld)] = number(world.size());
  slots[static_cast<std::size_t>(kInstance)] = number(part.instance);
  evaluator.set_neighbours(neighbours_of(group));
}

Context::~Context() {
  group.set_poll({});
  world.set_poll({});
}

// Nobody can fetch the others out of the library, so the job has to end.
void Context::end_if_left_alone() const {
  constexpr double kPatienceS = 10.0;
  if (alone_since_ns_ == 0) return;
  const double waited_s = base::seconds(base::monotonic_ns() - alone_since_ns_);
  if (waited_s > (plan.stall_s > 0.0 ? plan.stall_s : kPatienceS)) throw base::Broken(*problem_);
}

void Context::poll() {
  beat();
  end_if_left_alone();
  check_signals();
  report_progress();
  if (comm::Notice notice; world.rank() == 0 && world.take_notice(notice)) {
    if (notice.is_warning) return report(comm::warning_of<schema::Warning>(notice));
    report(schema::Remark{std::move(notice.text)});
  }
}

void Context::poll_in_flight() {
  comm::Counters& mine = group.own_counters();
  const std::uint64_t before = mine.beats.load(std::memory_order_relaxed);
  world.poll();
  mine.beats.store(before, std::memory_order_relaxed);
}

void Context::report_progress() {
  if (group.rank() != 0 || phases.empty()) return;
  const std::uint64_t now = base::monotonic_ns();
  if (now - last_progress_ns_ < kProgressNs) return;
  last_progress_ns_ = now;
  schema::Progress event;
  event.path = phases.back().plan->path;
  event.repetition = static_cast<std::int64_t>(repetition);
  const std::uint64_t at = clock.now_ns();
  event.at_s = base::seconds(at > phases.back().start_ns ? at - phases.back().start_ns : 0);
  for (const comm::Counters* counters : group.visible_counters()) {
    event.bytes += static_cast<std::int64_t>(counters->bytes.load(std::memory_order_relaxed));
    event.operations +=
        static_cast<std::int64_t>(counters->operations.load(std::memory_order_relaxed));
    event.active += static_cast<std::int64_t>(counters->active.load(std::memory_order_relaxed));
  }
  report(std::move(event));
}

void Context::count(std::uint64_t bytes, std::uint64_t operations) noexcept {
  comm::Counters& mine = group.own_counters();
  constexpr auto kRelaxed = std::memory_order_relaxed;
  mine.bytes.store(mine.bytes.load(kRelaxed) + bytes, kRelaxed);
  mine.operations.store(mine.operations.load(kRelaxed) + operations, kRelaxed);
}

void Context::set_problem(base::Problem problem) {
  if (problem_) return;
  if (measured) {
    problem.exit_code = base::kExitFailed;
    if (problem.code == "target") problem.code = "io";
  }
  problem_ = std::move(problem);
  group.own_counters().failed.store(1, std::memory_order_relaxed);
  signals.give_up();
  tell_other_nodes();
}

void Context::tell_other_nodes() {
  if (all_halted_) return;
  const auto first = static_cast<std::size_t>(part.plan->first) +
                     part.instance * static_cast<std::size_t>(part.plan->ranks);
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    const bool leads = place_on_node_[rank] == 0;
    if (leads && group.node_of(rank) != group.node()) world.tell(first + rank, kFailedElsewhere, 0);
  }
}

// A rank that is told of another node's failure shows it to its own node as if it were its own.
void Context::look_at_others() {
  if (failed()) return;
  std::atomic<std::uint64_t>& mine = group.own_counters().failed;
  const bool is_told = ranks_of_node_.size() > 1 && place_on_node_[group.rank()] == 0;
  if (is_told && world.event_count(kFailedElsewhere).times > 0)
    mine.store(1, std::memory_order_relaxed);
  halted_ = std::ranges::any_of(group.visible_counters(), [](const comm::Counters* counters) {
    return counters->failed.load(std::memory_order_relaxed) != 0;
  });
}

std::string Context::explain(measure::Fault& fault) const {
  const std::string said = fault.error != 0 ? std::strerror(fault.error) : fault.what;
  std::string reason = said + likely_cause(fault, plan.directory);
  if (fault.what.empty() || fault.what == said) fault.what = reason;
  fault.at_ns = clock.now_ns();
  return reason;
}

void Context::fail_request(measure::Fault fault, const char* hint) {
  if (!goes_on_after_errors()) return fail_operation(std::move(fault), hint);
  explain(fault);
  ++passed_errors;
  meter().fail(std::move(fault));
}

void Context::fail_operation(measure::Fault fault, const char* hint) {
  const std::string reason = explain(fault);
  const std::string where = phases.empty() ? fault.path : phases.back().plan->path;
  set_problem(
      {.code = measured ? "io" : "target",
       .message = fmt::format("{} of {} failed on rank {} at offset {}: {}", to_string(fault.kind),
                              fault.path, group.rank(), fault.offset, reason),
       .hint = hint,
       .where = where,
       .exit_code = measured ? base::kExitFailed : base::kExitTarget});
  meter().fail(std::move(fault));
}

void Context::fail_verification(measure::Fault fault, const payload::Finding& finding) {
  fault.at_ns = clock.now_ns();
  fault.what = finding.what;
  fault.damage = finding.damage;
  fault.bytes = finding.bytes;
  fault.offset = finding.offset;
  ++passed_errors;
  damage_log_.add(phases.empty() ? "" : phases.back().plan->path, repetition, fault);
  meter().fail(std::move(fault));
}

void Context::agree_or_throw() {
  auto problem = agree(group, problem_);
  if (!problem) return;
  group.own_counters().failed.store(1, std::memory_order_relaxed);
  throw RunFailed(std::move(*problem));
}

void Context::agree_all_or_throw(const std::optional<base::Problem>& mine) {
  throw_on_all(agree(world, mine ? mine : problem_));
}

void Context::throw_on_all(std::optional<base::Problem> problem) {
  if (!problem) return;
  all_halted_ = true;
  group.own_counters().failed.store(1, std::memory_order_relaxed);
  // What ranks of other nodes were told arrives before the ranks part.
  world.forget_told();
  throw RunFailed(std::move(*problem));
}

void Context::wait() {
  std::array<std::uint64_t, 2> state{static_cast<std::uint64_t>(has_problem()),
                                     clock.is_simulated() ? clock.now_ns() : 0};
  group.reduce(state, comm::Reduction::kMaximum);
  alone_since_ns_ = 0;
  all_halted_ |= state[0] != 0;
  halted_ |= all_halted_;
  clock.advance_to(state[1]);
}

void Context::pause(double seconds) {
  const std::uint64_t wanted_ns = waiting_ns(seconds);
  if (clock.is_simulated()) {
    clock.advance(wanted_ns);
    return;
  }
  constexpr double kSliceS = 0.01;
  const std::uint64_t end = clock.now_ns() + wanted_ns;
  for (std::uint64_t now = clock.now_ns(); now < end && !failed(); now = clock.now_ns()) {
    const double left = std::min(base::seconds(end - now), kSliceS);
    const timespec slice{.tv_sec = 0, .tv_nsec = static_cast<long>(left * base::kNsPerS)};
    nanosleep(&slice, nullptr);
    tick(clock.now_ns());
  }
}

void Context::spin(double seconds) {
  if (clock.is_simulated()) return pause(seconds);
  const std::uint64_t begin = clock.now_ns();
  const std::uint64_t end = begin + waiting_ns(seconds);
  footprint_.begin();
  for (std::uint64_t now = begin; now < end && !failed(); now = clock.now_ns()) {
    footprint_.reach(now - begin);
    tick(now);
  }
}

void Context::think(double seconds) {
  constexpr double kShortS = 0.002;
  constexpr double kLongestWorkS = 1.0;
  const bool works = seconds <= kShortS || (has_processor_ && seconds <= kLongestWorkS);
  return works ? spin(seconds) : pause(seconds);
}

void Context::take_place_of(std::uint64_t rank) {
  const std::size_t node = group.node_of(rank);
  slots[kRankSlot] = number(rank);
  slots[kNodeSlot] = number(node);
  slots[kNodeRankSlot] = number(place_on_node_[rank]);
  slots[kNodeRanksSlot] = number(ranks_of_node_[node]);
}

std::uint64_t Context::owner_of(const schema::Expression& owner) {
  const std::uint64_t rank = evaluator.count(owner, slots, "owner");
  if (rank >= group.size()) {
    throw base::plan_error("owner", fmt::format("there is no rank {}", rank));
  }
  return rank;
}

std::uint64_t Context::first_sharer(const schema::File& file, std::uint64_t rank) const {
  switch (file.sharing) {
    case schema::Sharing::kAll:
      return 0;
    case schema::Sharing::kRank:
      return rank;
    case schema::Sharing::kEvery:
      return rank - rank % static_cast<std::uint64_t>(file.every);
    case schema::Sharing::kNode:
      break;
  }
  std::uint64_t first = 0;
  while (group.node_of(first) != group.node_of(rank)) ++first;
  return first;
}

std::uint64_t Context::sharer_index(const schema::File& file, std::uint64_t rank) const {
  if (file.sharing == schema::Sharing::kNode) return place_on_node_[rank];
  return rank - first_sharer(file, rank);
}

std::string Context::path_of(const schema::File& file) const {
  std::string path;
  pattern::render_path(file.path, slots, path);
  if (file.foreign) return path;
  if (const char* fault = pattern::path_fault(path)) {
    throw base::plan_error("files.path", fmt::format("{}: {}", fault, path));
  }
  return path;
}

std::uint64_t Context::family_key(const schema::File& file) const {
  pattern::Slots family = slots;
  family[kRankSlot] = std::int64_t{0};
  family[kNodeSlot] = std::int64_t{0};
  family[kNodeRankSlot] = std::int64_t{0};
  family[kNodeRanksSlot] = std::int64_t{0};
  std::string path;
  pattern::render_path(file.path, family, path);
  return base::key_of(path);
}

History* Context::history_of(FileState& file) const {
  if (!file.plan->content.verify || file.plan->foreign) return nullptr;
  return &file.histories[family_key(*file.plan)];
}

payload::Stamp Context::stamp(const schema::File& file, std::uint64_t path_key,
                              std::uint64_t generation, std::uint64_t write) const {
  std::uint64_t seed = base::combine(static_cast<std::uint64_t>(plan.seed),
                                     static_cast<std::uint64_t>(file.content.seed));
  // What an earlier run left must not pass for what this one wrote.
  if (file.content.verify) seed = base::combine(seed, run_key_);
  return payload::Stamp({seed, path_key, generation, file.content.compressibility,
                         file.content.duplicates.value_or(0.0), write});
}

payload::Stamp Context::stamp(const schema::File& file, const OpenFile& open) const {
  const schema::Content& content = file.content;
  if (open.stamp_key) {
    return {*open.stamp_key, content.compressibility, content.duplicates.value_or(0.0)};
  }
  const std::uint64_t generation = open.history != nullptr ? open.history->created : 0;
  return stamp(file, base::key_of(open.path), generation, writes.number());
}

void Context::note_pause(std::uint64_t begin_ns, std::uint64_t end_ns, bool waits) {
  constexpr std::size_t kMost = 4096;
  if (!phases.empty() || group.size() == world.size() || group.rank() != 0) return;
  if (pauses_.size() == kMost) return;
  pauses_.push_back({.at_s = since_hello(common_ns(begin_ns)),
                     .seconds = base::seconds(end_ns - begin_ns),
                     .waits = waits});
}

void Context::report_pauses() {
  if (pauses_.empty()) return;
  schema::Paused event;
  event.group = part.plan->name;
  event.instance = static_cast<std::int64_t>(part.instance);
  event.repetition = static_cast<std::int64_t>(repetition);
  event.pauses = std::exchange(pauses_, {});
  report(std::move(event));
}

std::byte* Context::reader(std::uint64_t bytes) {
  refuse_too_much(bytes);
  return read_buffer.reserve(bytes + 1);
}

payload::Stream* Context::stream(FileState& file) {
  const schema::Content& content = file.plan->content;
  if (content.repeats || !file.plain->traits().real_files) return nullptr;
  if (!file.stream) {
    const auto entry = static_cast<std::uint64_t>(&file - files.data());
    const std::uint64_t own = base::combine(base::combine(run_key_, world.rank()), entry);
    file.stream.emplace(base::combine(own, static_cast<std::uint64_t>(content.seed)),
                        content.compressibility, content.duplicates.value_or(0.0));
  }
  return &*file.stream;
}

std::byte* Context::writer(std::uint64_t bytes) {
  refuse_too_much(bytes);
  write_buffer_.bytes = 0;
  return write_buffer_.memory.reserve(bytes + 1);
}

std::byte* Context::filler(const schema::File& file, std::uint64_t bytes) {
  return fill(write_buffer_, file, bytes);
}

std::byte* Context::cells(const schema::File& file, std::uint64_t bytes) {
  return fill(cells_, file, bytes);
}

std::byte* Context::fill(Filled& buffer, const schema::File& file, std::uint64_t bytes) {
  refuse_too_much(bytes);
  std::byte* data = buffer.memory.reserve(bytes + 1);
  const std::pair wanted(file.content.compressibility, file.content.duplicates.value_or(0.0));
  if (file.content.verify) {
    buffer.bytes = 0;
  } else if (buffer.bytes < bytes || buffer.with != wanted) {
    stamp(file, group.rank(), 0, 0).fill({data, bytes}, 0);
    payload::conceal({data, bytes});
    buffer.bytes = bytes;
    buffer.with = wanted;
  }
  return data;
}

void Context::note_write(FileState& file, OpenFile* open) {
  const backend::Traits traits = file.storage->traits();
  if (traits.real_files) {
    file.residency = traits.bypasses_cache ? Residency::kStorage : Residency::kMemory;
  }
  for (PhaseState& phase : phases) phase.wrote = true;
  if (open != nullptr) open->unsynced_in = next_serial - 1;
}

void Context::note_unsynced(OpenFile& open, std::uint64_t bytes) const {
  const bool earlier = !phases.empty() && open.unsynced_in < phases.back().serial;
  open.unsynced_bytes = (earlier ? 0 : open.unsynced_bytes) + bytes;
}

void Context::note_sync(OpenFile* open, schema::SyncMode mode) {
  // A flush reaches the kernel at most: what was written is no more persistent than before.
  if (open->unsynced_in == 0 || mode == schema::SyncMode::kFlush) return;
  if (!phases.empty() && open->unsynced_in >= phases.back().serial) {
    meter().add_durable(open->unsynced_bytes);
  }
  open->unsynced_bytes = 0;
  open->unsynced_in = 0;
  for (PhaseState& phase : phases) phase.weakest = std::min(phase.weakest, strength(mode));
}

void Context::note_close(const OpenFile& open) {
  for (PhaseState& phase : phases) phase.unsynced |= open.unsynced_in >= phase.serial;
}

void Context::note_read(FileState& file, std::uint64_t owner) {
  const backend::Traits traits = file.storage->traits();
  if (!traits.real_files) return;
  file.read_in_phase = true;
  Residency from = file.residency;
  if (traits.is_keyed) {
    from = Residency::kForeign;  // whether the server has it in memory nobody says
  } else if (traits.bypasses_cache) {
    from = Residency::kStorage;
  } else if (group.node_of(owner) != group.node()) {
    from = Residency::kForeign;
  }
  for (PhaseState& phase : phases) {
    phase.read_from[static_cast<std::size_t>(from)] = 1;
    phase.bypassed_cache |= traits.bypasses_cache;
  }
}

ActAs::ActAs(Context& context, std::uint64_t rank)
    : context_(context), before_(static_cast<std::uint64_t>(context.slots[kRankSlot].integer())) {
  context.take_place_of(rank);
}

ActAs::~ActAs() { context_.take_place_of(before_); }

}  // namespace venturi::execute

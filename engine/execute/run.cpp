// Directory, prestaging, repetitions, removal, and what is said about them.
#include "execute/run.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "base/version.hpp"
#include "comm/watch.hpp"
#include "execute/key_stores.hpp"
#include "execute/program.hpp"
#include "execute/removal.hpp"
#include "execute/step.hpp"
#include "execute/tracer_mark.hpp"
#include "pattern/expression.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {
namespace {

/// The entry of what this rank has just made.
Entry entry_of(EntryKind kind, const std::string& full, const std::string& relative,
               const RunKey& key) {
  base::Identity found;
  if (const int error = base::identify(AT_FDCWD, full.c_str(), found)) {
    throw base::target_error(full, std::strerror(error));
  }
  base::set_mark(AT_FDCWD, full.c_str(), base::combine(key.low, base::key_of(relative)), found);
  return {.kind = kind, .identity = found, .path = relative};
}

Entry root_of(const std::string& directory) {
  base::Identity found;
  if (const int error = base::identify(AT_FDCWD, directory.c_str(), found)) {
    throw base::target_error(directory, std::strerror(error));
  }
  return {.kind = EntryKind::kRoot, .identity = found, .path = "."};
}

/// Writes a new file whose name must be free.
void write_new(const std::string& name, const std::string& text) {
  const base::Descriptor file(
      ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  ssize_t written = -1;
  do {
    if (file) written = ::write(file.get(), text.data(), text.size());
  } while (file && written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(text.size())) return;
  throw base::target_error(name, fmt::format("cannot write: {}", std::strerror(errno)));
}

/// What the verification of a file of an earlier run cannot see.
constexpr const char* kByOwnStamps =
    "; it is checked by the stamps that its first 4 KiB bear, so a whole file of another run in "
    "its place is not noticed";

/// One run; the steps of `run` in order.
class Run {
 public:
  Run(const schema::Plan& plan, const RankView::Part& part, comm::Group& group, comm::Group& world,
      base::Clock& clock, const Report& report)
      : context_(plan, part, group, world, clock, report), world_(world) {}

  int execute() {
    try {
      greet();
      prepare();
      const std::uint64_t done = repeat();
      context_.agree_all_or_throw();
      return finish(done);
    } catch (const RunFailed& failed) {
      close_all(context_);
      const std::vector<std::string> left = remove_all();
      schema::Failed event;
      event.code = failed.problem().code;
      event.message = failed.problem().message;
      event.hint = failed.problem().hint;
      event.where = failed.problem().where;
      event.exit_code = failed.problem().exit_code;
      report(std::move(event));
      return failed.problem().exit_code;
    }
  }

 private:
  [[nodiscard]] bool is_first() const noexcept { return world_.rank() == 0; }

  /// What is said of the whole run is said by the first of all ranks.
  template <class Kind>
  void report(Kind event) {
    if (is_first()) context_.report(std::move(event));
  }

  void greet() {
    measure_offset();
    if (context_.clock.is_simulated()) world_.synchronise(context_.clock);
    context_.guard([&] {
      if (is_first()) begin_directory();
    });
    share_binding();
    // One moment for all ranks, the last one's: groups' events count from it.
    context_.hello_ns = static_cast<std::uint64_t>(
        static_cast<std::int64_t>(context_.clock.now_ns()) + context_.clock_offset_ns);
    auto problem = context_.agree_all(context_.hello_ns);
    if (is_first()) say_hello();
    context_.throw_on_all(std::move(problem));
  }

  /// Only who says it makes it: the time of day reads a file.
  void say_hello() {
    const comm::Placement& placement = world_.placement();
    schema::Hello event;
    event.run = context_.plan.run;
    event.engine = base::kVersion;
    event.comm = world_.name();
    event.ranks = static_cast<std::int64_t>(placement.size);
    event.hosts = placement.hosts;
    event.node_of_rank.assign(placement.node_of_rank.begin(), placement.node_of_rank.end());
    event.clock = {.source = context_.clock.source_name(),
                   .resolution_ns = context_.clock.resolution_ns(),
                   .overhead_ns = context_.clock.overhead_ns(),
                   .offset_uncertainty_s = base::seconds(uncertainty_ns_),
                   .offset_of_host_ns = offset_of_host_ns_};
    event.time =
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
    context_.report(std::move(event));
  }

  void measure_offset() {
    if (context_.clock.is_simulated()) return;
    std::uint64_t uncertainty = 0;
    context_.clock_offset_ns = world_.clock_offset_ns(context_.clock, uncertainty);
    const comm::Placement& placement = world_.placement();
    if (placement.hosts.size() < 2) return;
    uncertainty_ns_ = world_.maximum(uncertainty);
    const std::vector<std::int64_t> of_rank = world_.gather(context_.clock_offset_ns);
    if (is_first()) offset_of_host_ns_.resize(placement.hosts.size());
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
      offset_of_host_ns_[placement.node_of_rank[rank]] = of_rank[rank];
    }
  }

  void prepare() {
    const schema::Plan& plan = context_.plan;
    context_.guard([&] {
      root_ = root_of(plan.directory);
      if (!context_.manifest) open_manifest();
      note_target();
      if (plan.log_operations) {
        context_.operation_log.emplace(
            fmt::format("{}/operations.{}", plan.journal, world_.rank()));
      }
    });
    // Calls of all ranks, so they come to them even if one has trouble.
    context_.files = split_sharers(plan, context_.group);
    context_.guard([&] {
      make_storage(context_.files, {.clock = &context_.clock,
                                    .poll = [this] { context_.poll_in_flight(); },
                                    .root = plan.directory,
                                    .rank = context_.group.rank(),
                                    .world_rank = world_.rank(),
                                    .made = [this](const auto&... what) { list_part(what...); },
                                    .owner_key = binding_.key.text()});
      claim_keys();
      note_program(context_.part.plan->program);
      note_stages();
    });
    agree_on_stop();
    if (is_first()) warn_of_foreign_files();
    if (has_file([](const schema::File& file) { return file.prestage.has_value(); })) {
      prestage(context_, false);
      agree_on_stop();
    }
    first_position_ = context_.manifest->position();
  }

  /// Ranks remove what they listed; the first of all makes the markers.
  void claim_keys() {
    for (FileState& file : context_.files) keys_.add(*file.plain);
    if (is_first()) keys_.claim(*context_.manifest, context_.plan.run);
  }

  /// Lists what a storage made beside the file that it was asked for.
  void list_part(const schema::File& file, const std::string& path,
                 const backend::Identity& identity) {
    const EntryKind kind = file.keep ? EntryKind::kKept : EntryKind::kFile;
    context_.manifest->add({.kind = kind, .identity = identity, .path = path});
  }

  /// The directory and its marker. Before each of them stands in the journal that it will be made.
  void begin_directory() {
    const schema::Plan& plan = context_.plan;
    binding_.key = make_key(plan.journal);
    open_manifest();
    if (::access((plan.journal + "/" + kEndedName).c_str(), F_OK) == 0) {
      throw base::target_error(plan.journal, "the run was ended before it began");
    }
    Manifest& manifest = *context_.manifest;
    manifest.intend(".");
    make_directory();
    manifest.add(entry_of(EntryKind::kRoot, plan.directory, ".", binding_.key));
    const std::string marker = plan.directory + "/" + kMarkerName;
    manifest.intend(kMarkerName);
    const std::uint64_t begin_ns = coarse_time_ns();
    write_new(marker, marker_text(plan.run));
    const Entry entry = entry_of(EntryKind::kMarker, marker, kMarkerName, binding_.key);
    manifest.add(entry);
    // The storage may have a clock of its own; then its times are compared with that.
    constexpr std::int64_t kNear = 100'000'000;
    const auto offset = static_cast<std::int64_t>(entry.identity.birth_ns - begin_ns);
    if (entry.identity.birth_ns == 0 || std::abs(offset) < kNear) return;
    binding_.offset_ns = offset;
    manifest.set_offset(offset);
  }

  /// All manifests of the run bear the key of the first one.
  void share_binding() {
    Binding shared = binding_;
    world_.broadcast(shared);
    binding_.key = shared.key;
    binding_.offset_ns = shared.offset_ns;
  }

  void make_directory() {
    const std::string& directory = context_.plan.directory;
    if (::mkdir(directory.c_str(), 0755) == 0) return;
    const int error = errno;
    context_.manifest->retract(".");
    throw base::target_error(
        directory, fmt::format("cannot make {}: {}", directory, std::strerror(error)),
        error == EEXIST   ? "the run makes its own directory; choose a name that is not taken"
        : error == ENOENT ? "the directory above it must exist"
                          : "");
  }

  void open_manifest() {
    binding_.now_ns = context_.clock.now_ns();
    context_.manifest.emplace(context_.plan.journal, context_.plan.directory, world_.rank(),
                              binding_);
  }

  /// One rank of each node looks at what the directory lies on there.
  void note_target() {
    const std::vector<std::size_t>& nodes = context_.group.placement().node_of_rank;
    const auto first = std::find(nodes.begin(), nodes.end(), context_.group.node());
    if (static_cast<std::size_t>(first - nodes.begin()) != context_.group.rank()) return;
    context_.target.emplace(context_.plan.directory, context_.plan.expect_fstype);
  }

  /// What the program does somewhere and the files must know from the beginning.
  void note_program(const std::vector<schema::Step>& steps) {
    for (const std::size_t file : used_files(steps)) context_.files[file].used = true;
    for (const std::size_t file : made_directories(steps)) note_mkdir(context_.files[file]);
    for (const std::size_t file : moving_windows(steps)) {
      context_.files[file].has_moving_windows = true;
    }
    context_.remembers_paths = drops_caches(steps);
    const auto is_verified = [](const schema::File& file) { return file.content.verify; };
    context_.verifies = std::ranges::any_of(context_.plan.files, is_verified);
  }

  /// The first group that uses a file fills it before the run; where the instances of a group
  /// share one, the first of them does.
  void note_stages() {
    std::set<std::size_t> taken;
    for (const schema::Group& group : context_.plan.groups) {
      context_.removes_others |= removes_others(group.program);
      for (const std::size_t file : removed_files(group.program)) {
        context_.files[file].is_removed = true;
      }
      for (const std::size_t file : linked_files(group.program)) {
        context_.files[file].is_linked = true;
      }
      const std::vector<std::size_t> used = used_files(group.program);
      for (const std::size_t file : used) {
        FileState& state = context_.files[file];
        const bool own = context_.part.instance == 0 || reads_instance(state.plan->path);
        const bool is_first = taken.insert(file).second;
        if (is_first) state.stages = &group == context_.part.plan && own;
        const bool by_instances = group.instances > 1 && !reads_instance(state.plan->path);
        state.is_used_by_groups |= !is_first || by_instances;
      }
    }
    const bool first = context_.part.plan == &context_.plan.groups.front();
    for (std::size_t file = 0; file < context_.files.size(); ++file) {
      if (!taken.contains(file)) {
        context_.files[file].stages = first && context_.part.instance == 0;
      }
    }
  }

  static bool reads_instance(const std::vector<schema::PathPart>& path) {
    constexpr std::size_t kInstance[] = {static_cast<std::size_t>(schema::Slot::kInstance)};
    return std::any_of(path.begin(), path.end(), [&](const schema::PathPart& part) {
      return part.value && pattern::reads_slot(*part.value, kInstance);
    });
  }

  /// The program makes this entry's directories, and so those of trees at the same place.
  void note_mkdir(const FileState& made) {
    const std::uint64_t place = context_.family_key(*made.plan);
    for (FileState& file : context_.files) {
      file.has_mkdir |= context_.family_key(*file.plan) == place;
    }
  }

  void warn_of_foreign_files() {
    for (const FileState& file : context_.files) {
      if (file.plan->foreign) {
        context_.warn(fmt::format("foreign file read: {}{}", context_.path_of(*file.plan),
                                  file.plan->content.verify ? kByOwnStamps : ""));
      }
    }
  }

  /// Returns how many repetitions were completed.
  std::uint64_t repeat() {
    const auto wanted = static_cast<std::uint64_t>(context_.plan.repetitions);
    for (std::uint64_t i = 0; i < wanted; ++i) {
      if (i > 0) agree_on_stop();
      if (is_stopped_) return i;
      context_.repetition = i;
      context_.slots[static_cast<std::size_t>(schema::Slot::kIteration)] =
          static_cast<std::int64_t>(i);
      forget_trees(context_);
      if (i > 0) {
        prestage(context_, true);
        context_.agree_all_or_throw();
      }
      if (has_file([](const schema::File& file) { return file.tree.has_value(); })) {
        make_trees(context_, EntryKind::kTree);
        context_.agree_all_or_throw();
      }
      mark_for_tracer(context_.plan.directory, kBeginMark);
      run_program();
      close_all(context_);
      mark_for_tracer(context_.plan.directory, kEndMark);
      remove_made(first_position_, false);
    }
    return wanted;
  }

  /// A group that fails stops; the others come to the end of the repetition first.
  void run_program() {
    std::optional<base::Problem> failed;
    try {
      run_steps(context_, context_.part.plan->program);
      context_.agree_or_throw();
    } catch (const RunFailed& problem) {
      failed = problem.problem();
    }
    context_.report_pauses();
    context_.signals.forget();
    context_.agree_all_or_throw(failed);
  }

  /// All ranks learn whether one of them has trouble, and whether somebody wants the run to end.
  void agree_on_stop() {
    const std::string name = context_.plan.journal + "/stop";
    auto stopped = static_cast<std::uint64_t>(is_first() && ::access(name.c_str(), F_OK) == 0);
    auto problem = context_.agree_all(stopped);
    is_stopped_ = stopped != 0;
    context_.throw_on_all(std::move(problem));
  }

  template <class Predicate>
  [[nodiscard]] bool has_file(const Predicate& wanted) const {
    return std::any_of(context_.plan.files.begin(), context_.plan.files.end(), wanted);
  }

  /// Removes what was listed from a position on; all ranks together, so that directories are
  /// empty when their turn comes. What could not be removed stays listed.
  void remove_made(std::size_t position, bool all) {
    world_.synchronise(context_.clock);
    std::vector<Entry> entries;
    if (context_.manifest) entries = context_.manifest->since(position);
    Remover remover(context_.plan.directory, &root_);
    const auto wanted = [&](const Entry& entry) {
      const bool lasting = entry.kind == EntryKind::kStagedFile ||
                           entry.kind == EntryKind::kStagedTree ||
                           entry.kind == EntryKind::kStagedItems;
      return !outlives_repetition(entry.kind) || (all && lasting);
    };
    // The deadline of a phase that failed is not that of the removal.
    comm::Counters& counters = context_.group.own_counters();
    counters.deadline_ns = 0;
    comm::set_doing(counters, comm::kRemoving);
    std::uint64_t deepest = 0;
    note_removals_of_others(entries);
    // A create that failed may have made its name.
    if (context_.failed() && remover.reachable()) remover.remove_intended(entries);
    std::erase_if(entries, [&](const Entry& entry) {
      if (!wanted(entry)) return false;
      context_.beat();
      if (entry.kind == EntryKind::kIntent || entry.kind == EntryKind::kVoid) return true;
      if (is_items(entry.kind)) return remover.reachable() && remover.remove_items(entry);
      if (is_directory(entry.kind)) {
        deepest = std::max<std::uint64_t>(deepest, depth_of(entry.path) + 1);
        return false;
      }
      if (entry.identity.is_key()) return keys_.remove(entry);
      return remover.reachable() && remover.remove_file(entry);
    });
    world_.synchronise(context_.clock);
    for (std::uint64_t depth = world_.maximum(deepest); depth > 0; --depth) {
      std::erase_if(entries, [&](const Entry& entry) {
        return wanted(entry) && is_directory(entry.kind) && depth_of(entry.path) + 1 == depth &&
               remover.reachable() && remover.remove_directory(entry);
      });
      world_.synchronise(context_.clock);
    }
    // Where storage fails, what looks gone may come back with it: all names stay listed.
    const bool fails = world_.maximum(remover.refused() + keys_.refused()) > 0;
    if (context_.manifest && !fails) context_.manifest->rewind(position, entries);
    if (!all) comm::set_doing(counters, "between repetitions");
  }

  /// Where ranks removed items that others had made, those do not look for them: under their names
  /// there may be something else by now.
  void note_removals_of_others(std::vector<Entry>& entries) {
    // All ranks come here, also those that failed before they had a manifest.
    const bool has_removed = context_.manifest && context_.manifest->removed_others();
    if (world_.maximum(static_cast<std::uint64_t>(has_removed)) == 0) return;
    std::map<std::tuple<std::string, std::string, std::uint64_t>, std::string> sums;
    for (Entry& sum :
         sum_items(read_manifests(context_.plan.journal, context_.plan.directory, binding_.key))) {
      sums[{sum.path, sum.block.names, sum.block.first}] = std::move(sum.counts);
    }
    world_.barrier();
    for (Entry& entry : entries) {
      if (!is_items(entry.kind)) continue;
      const auto found = sums.find({entry.path, entry.block.names, entry.block.first});
      for (std::size_t i = 0; found != sums.end() && i < entry.counts.size(); ++i) {
        const auto sum = static_cast<unsigned char>(found->second[i]);
        if (!is_made(sum) && (sum & kPending) == 0) entry.counts[i] = static_cast<char>(kSettled);
      }
    }
  }

  /// Removes everything; returns what the plan wanted to keep. Only the first rank looks.
  std::vector<std::string> remove_all() {
    if (world_.maximum(static_cast<std::uint64_t>(context_.manifest.has_value())) == 0) {
      return {};
    }
    remove_made(Manifest::kFirstPosition, true);
    std::vector<std::string> kept;
    if (is_first()) {
      kept = remove_directory();
      verify_removal(kept);
      list_keys(kept);
    }
    world_.synchronise(context_.clock);
    return kept;
  }

  /// Storage may say that something is removed and still have it.
  void verify_removal(const std::vector<std::string>& kept) {
    const std::string& directory = context_.plan.directory;
    if (!kept.empty() || ::access(directory.c_str(), F_OK) != 0) return;
    const Leftover left = list_left(directory, binding_.key);
    if (left.count > 0) return;  // said already
    context_.warn(fmt::format("{} is still there after it was removed", directory));
  }

  void list_keys(std::vector<std::string>& kept) {
    const std::string& journal = context_.plan.journal;
    KeyStores::End end =
        keys_.finish(read_manifests(journal, context_.plan.directory, binding_.key));
    kept.insert(kept.end(), end.kept.begin(), end.kept.end());
    for (const std::string& warning : end.warnings) context_.warn(warning);
  }

  std::vector<std::string> remove_directory() {
    const std::string& directory = context_.plan.directory;
    const std::vector<Entry> entries =
        read_manifests(context_.plan.journal, directory, binding_.key);
    Remover remover(directory, &root_);
    if (remove_root(remover, entries, directory, binding_.key)) return {};
    std::set<std::string> ours;
    std::set<std::string> kept_trees;
    for (const Entry& entry : entries) {
      const bool is_kept = entry.kind == EntryKind::kKept || entry.kind == EntryKind::kKeptTree;
      if (is_kept) kept_trees.insert(entry.path);
      if (!is_items(entry.kind)) ours.insert(entry.path);
    }
    const Leftover left = list_left(directory, binding_.key);
    std::vector<std::string> kept;
    std::vector<std::string> strange;
    for (const std::string& path : left.paths) {
      if (pattern::is_for_commands(path)) continue;
      const std::string parent = path.substr(0, path.find_last_of('/'));
      (ours.contains(path) || kept_trees.contains(parent) ? kept : strange).push_back(path);
    }
    if (!strange.empty()) {
      context_.warn(
          fmt::format("{} holds names that this run did not make, e.g. {}; they and the "
                      "directory were left alone",
                      directory, strange.front()));
    }
    return kept;
  }

  int finish(std::uint64_t repetitions) {
    schema::Finished event;
    event.at_s =
        base::seconds(context_.clock.now_ns() -
                      static_cast<std::uint64_t>(static_cast<std::int64_t>(context_.hello_ns) -
                                                 context_.clock_offset_ns));
    const std::uint64_t errors = world_.sum(context_.passed_errors);
    event.left = remove_all();
    event.repetitions = static_cast<std::int64_t>(repetitions);
    event.errors = static_cast<std::int64_t>(errors);
    report_drift();
    report_loss();
    report(std::move(event));
    return errors > 0 ? base::kExitFailed : 0;
  }

  /// Rows of the log that found no room.
  void report_loss() {
    const std::uint64_t own = context_.operation_log ? context_.operation_log->lost() : 0;
    const std::uint64_t lost = world_.sum(own);
    if (lost == 0 || !is_first()) return;
    context_.warn(fmt::format("{} operations are not in the log: the journal has no room", lost));
  }

  /// The clocks of nodes drift; what that did to the run is said at its end.
  void report_drift() {
    if (world_.placement().hosts.size() < 2 || context_.clock.is_simulated()) return;
    const std::int64_t before = context_.clock_offset_ns;
    std::uint64_t uncertainty = 0;
    const std::int64_t after = world_.clock_offset_ns(context_.clock, uncertainty);
    const auto drift = static_cast<std::uint64_t>(after > before ? after - before : before - after);
    const std::uint64_t largest = world_.maximum(drift + uncertainty);
    if (!is_first()) return;
    context_.warn(
        fmt::format("clock offsets between nodes changed by at most {:.1f} us during "
                    "the run",
                    static_cast<double>(largest) / 1000.0));
  }

  Context context_;
  comm::Group& world_;
  KeyStores keys_;
  Binding binding_;
  Entry root_;
  std::size_t first_position_ = Manifest::kFirstPosition;
  std::uint64_t uncertainty_ns_ = 0;
  /// On the first rank, where there are several hosts.
  std::vector<std::int64_t> offset_of_host_ns_;
  bool is_stopped_ = false;
};

/// Where a rank belongs.
struct Place {
  RankView::Part part;
  /// A number that the ranks of one instance of one group have in common.
  std::uint64_t color = 0;
};

Place place_of(const schema::Plan& plan, std::uint64_t rank) {
  std::uint64_t color = 0;
  for (const schema::Group& group : plan.groups) {
    const auto ranks = static_cast<std::uint64_t>(group.ranks);
    const auto instances = static_cast<std::uint64_t>(group.instances);
    const std::uint64_t behind = rank - static_cast<std::uint64_t>(group.first);
    if (behind < ranks * instances) {
      return {{&group, behind / ranks}, color + behind / ranks};
    }
    color += instances;
  }
  throw base::plan_error("groups", fmt::format("rank {} is in no group", rank));
}

}  // namespace

int run(const schema::Plan& plan, comm::Group& world, base::Clock clock, const Report& report) {
  const Place place = place_of(plan, world.rank());
  if (world.size() == static_cast<std::size_t>(plan.groups.front().ranks)) {
    return Run(plan, place.part, world, world, clock, report).execute();
  }
  comm::Group group = world.split(place.color);
  return Run(plan, place.part, group, world, clock, report).execute();
}

}  // namespace venturi::execute

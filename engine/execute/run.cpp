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
#include <cstring>
#include <set>

#include "base/version.hpp"
#include "execute/program.hpp"
#include "execute/removal.hpp"
#include "execute/step.hpp"

namespace venturi::execute {
namespace {

Entry entry_of(EntryKind kind, const std::string& full, const std::string& relative) {
  base::Identity found;
  if (const int error = base::identify(AT_FDCWD, full.c_str(), found)) {
    throw base::target_error(full, std::strerror(error));
  }
  return {kind, found.device, found.inode, found.birth_ns, relative};
}

/// One run; the steps of `run` in order.
class Run {
 public:
  Run(const schema::Plan& plan, comm::Group& group, base::Clock& clock, const Report& report)
      : context_(plan, group, clock, report) {}

  int execute() {
    try {
      greet();
      prepare();
      const std::uint64_t done = repeat();
      context_.agree_or_throw();
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
      context_.report(std::move(event));
      return failed.problem().exit_code;
    }
  }

 private:
  [[nodiscard]] bool is_first() const noexcept { return context_.group.rank() == 0; }

  void greet() {
    measure_offset();
    context_.wait();
    context_.hello_ns = static_cast<std::uint64_t>(
        static_cast<std::int64_t>(context_.clock.now_ns()) + context_.clock_offset_ns);
    const comm::Placement& placement = context_.group.placement();
    schema::Hello event;
    event.run = context_.plan.run;
    event.engine = base::kVersion;
    event.comm = context_.group.name();
    event.ranks = static_cast<std::int64_t>(placement.size);
    event.hosts = placement.hosts;
    event.node_of_rank.assign(placement.node_of_rank.begin(), placement.node_of_rank.end());
    event.clock = {.source = context_.clock.source_name(),
                   .resolution_ns = context_.clock.resolution_ns(),
                   .overhead_ns = context_.clock.overhead_ns(),
                   .offset_uncertainty_s = base::seconds(uncertainty_ns_)};
    event.time =
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
    context_.report(std::move(event));
  }

  void measure_offset() {
    if (context_.clock.is_simulated()) return;
    std::uint64_t uncertainty = 0;
    context_.clock_offset_ns = context_.group.clock_offset_ns(context_.clock, uncertainty);
    uncertainty_ns_ = context_.group.maximum(uncertainty);
  }

  void prepare() {
    context_.guard([&] {
      if (is_first()) make_directory();
    });
    context_.agree_or_throw();
    const schema::Plan& plan = context_.plan;
    context_.guard([&] {
      root_ = entry_of(EntryKind::kRoot, plan.directory, ".");
      open_manifest();
      if (is_first()) list_directory();
      context_.files = make_file_states(plan, {.clock = &context_.clock,
                                               .poll = [this] { context_.group.poll(); },
                                               .root = plan.directory,
                                               .rank = context_.group.rank()});
      note_program(plan.groups.front().program);
    });
    context_.agree_or_throw();
    warn_of_foreign_files();
    prestage(context_);
    context_.agree_or_throw();
    first_position_ = context_.manifest->position();
  }

  void make_directory() const {
    const std::string& directory = context_.plan.directory;
    if (::mkdir(directory.c_str(), 0755) == 0) return;
    const int error = errno;
    throw base::target_error(
        directory, fmt::format("cannot make {}: {}", directory, std::strerror(error)),
        error == EEXIST   ? "the run makes its own directory; choose a name that is not taken"
        : error == ENOENT ? "the directory above it must exist"
                          : "");
  }

  void open_manifest() {
    try {
      context_.manifest.emplace(context_.plan.journal, context_.plan.directory,
                                context_.group.rank());
    } catch (const base::Error&) {
      // Nothing lists the directory yet, so it must go now.
      if (is_first()) ::rmdir(context_.plan.directory.c_str());
      throw;
    }
  }

  void list_directory() {
    const std::string& directory = context_.plan.directory;
    context_.manifest->add(root_);
    const std::string marker = directory + "/" + kMarkerName;
    const base::Descriptor file(
        ::open(marker.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    const std::string text = fmt::format("venturi run {}\n", context_.plan.run);
    if (!file || ::write(file.get(), text.data(), text.size()) < 0) {
      throw base::target_error(marker, fmt::format("cannot write: {}", std::strerror(errno)));
    }
    context_.manifest->add(entry_of(EntryKind::kMarker, marker, kMarkerName));
  }

  /// What the program does somewhere and the files must know from the beginning.
  void note_program(const std::vector<schema::Step>& steps) {
    for (const schema::Step& step : steps) {
      if (const auto* loop = std::get_if<schema::For>(&step.value)) note_program(loop->body);
      if (const auto* when = std::get_if<schema::When>(&step.value)) note_program(when->body);
      if (const auto* phase = std::get_if<schema::Phase>(&step.value)) {
        context_.remembers_paths |= phase->cache == schema::CachePolicy::kDrop;
        note_program(phase->body);
      }
      const auto* manage = std::get_if<schema::Manage>(&step.value);
      if (manage != nullptr && manage->verb == schema::NameVerb::kMkdir) {
        context_.files[static_cast<std::size_t>(manage->file)].has_mkdir = true;
      }
    }
  }

  void warn_of_foreign_files() {
    for (const FileState& file : context_.files) {
      if (file.plan->foreign) {
        context_.warn(fmt::format("foreign file read: {}", context_.path_of(*file.plan)));
      }
    }
  }

  /// Returns how many repetitions were completed.
  std::uint64_t repeat() {
    const auto wanted = static_cast<std::uint64_t>(context_.plan.repetitions);
    for (std::uint64_t i = 0; i < wanted; ++i) {
      if (is_stopped()) return i;
      context_.repetition = i;
      context_.slots[static_cast<std::size_t>(schema::Slot::kIteration)] =
          static_cast<std::int64_t>(i);
      make_trees(context_, EntryKind::kTree);
      context_.agree_or_throw();
      run_steps(context_, context_.plan.groups.front().program);
      context_.agree_or_throw();
      close_all(context_);
      remove_made(first_position_, false);
    }
    return wanted;
  }

  bool is_stopped() {
    const std::string name = context_.plan.journal + "/stop";
    auto stopped = static_cast<std::uint8_t>(is_first() && ::access(name.c_str(), F_OK) == 0);
    context_.group.broadcast(stopped);
    return stopped != 0;
  }

  /// Removes what was listed from a position on; all ranks together, so that directories are
  /// empty when their turn comes. What could not be removed stays listed.
  void remove_made(std::size_t position, bool all) {
    context_.wait();
    std::vector<Entry> entries;
    if (context_.manifest) entries = context_.manifest->since(position);
    Remover remover(context_.plan.directory, &root_);
    const auto wanted = [&](const Entry& entry) {
      const bool lasting =
          entry.kind == EntryKind::kStagedFile || entry.kind == EntryKind::kStagedTree;
      return !outlives_repetition(entry.kind) || (all && lasting);
    };
    std::uint64_t deepest = 0;
    std::erase_if(entries, [&](const Entry& entry) {
      if (!wanted(entry)) return false;
      if (is_directory(entry.kind)) {
        deepest = std::max<std::uint64_t>(deepest, depth_of(entry.path) + 1);
        return false;
      }
      return remover.reachable() && remover.remove_file(entry);
    });
    context_.wait();
    for (std::uint64_t depth = context_.group.maximum(deepest); depth > 0; --depth) {
      std::erase_if(entries, [&](const Entry& entry) {
        return wanted(entry) && is_directory(entry.kind) && depth_of(entry.path) + 1 == depth &&
               remover.reachable() && remover.remove_directory(entry);
      });
      context_.wait();
    }
    if (context_.manifest) context_.manifest->rewind(position, entries);
  }

  /// Removes everything; returns what the plan wanted to keep. Only the first rank looks.
  std::vector<std::string> remove_all() {
    if (context_.group.maximum(static_cast<std::uint64_t>(context_.manifest.has_value())) == 0) {
      return {};
    }
    remove_made(0, true);
    std::vector<std::string> kept;
    if (is_first()) kept = remove_directory();
    context_.wait();
    return kept;
  }

  std::vector<std::string> remove_directory() {
    const std::string& directory = context_.plan.directory;
    const std::vector<Entry> entries = read_manifests(context_.plan.journal, directory);
    Remover remover(directory, &root_);
    if (remove_root(remover, entries, directory)) return {};
    std::set<std::string> ours;
    for (const Entry& entry : entries) ours.insert(entry.path);
    const Leftover left = list_left(directory);
    std::vector<std::string> kept;
    std::vector<std::string> strange;
    for (const std::string& path : left.paths) {
      const std::string parent = path.substr(0, path.find_last_of('/'));
      (ours.contains(path) || ours.contains(parent) ? kept : strange).push_back(path);
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
    const std::uint64_t errors = context_.group.sum(context_.verification_errors);
    event.left = remove_all();
    event.repetitions = static_cast<std::int64_t>(repetitions);
    event.errors = static_cast<std::int64_t>(errors);
    report_drift();
    context_.report(std::move(event));
    return errors > 0 ? base::kExitFailed : 0;
  }

  /// The clocks of nodes drift; what that did to the run is said at its end.
  void report_drift() {
    if (context_.group.placement().hosts.size() < 2 || context_.clock.is_simulated()) return;
    const std::int64_t before = context_.clock_offset_ns;
    std::uint64_t uncertainty = 0;
    const std::int64_t after = context_.group.clock_offset_ns(context_.clock, uncertainty);
    const auto drift = static_cast<std::uint64_t>(after > before ? after - before : before - after);
    const std::uint64_t largest = context_.group.maximum(drift + uncertainty);
    context_.warn(
        fmt::format("clock offsets between nodes changed by at most {:.1f} us during "
                    "the run",
                    static_cast<double>(largest) / 1000.0));
  }

  Context context_;
  Entry root_;
  std::size_t first_position_ = 0;
  std::uint64_t uncertainty_ns_ = 0;
};

}  // namespace

int run(const schema::Plan& plan, comm::Group& group, base::Clock clock, const Report& report) {
  return Run(plan, group, clock, report).execute();
}

}  // namespace venturi::execute

// Names of files and directories: who makes them, and what is listed so that it can be removed.
#include <fmt/format.h>

#include <cerrno>
#include <optional>

#include "base/random.hpp"
#include "execute/copy.hpp"
#include "execute/make_name.hpp"
#include "execute/status_part.hpp"
#include "execute/step.hpp"
#include "pattern/tree.hpp"

namespace venturi::execute {
namespace {

using backend::OpenMode;
using schema::NameVerb;
using schema::OperationKind;

/// One measured call: its time if it succeeds, trouble if it does not.
template <class Call>
bool measured(Context& context, FileState& file, measure::Fault what, const Call& call) {
  const std::uint64_t begin = context.clock.now_ns();
  what.error = call();
  const std::uint64_t end = context.clock.now_ns();
  if (what.error != 0) {
    const bool taken = what.error == EEXIST && what.kind == OperationKind::kCreate;
    const char* hint = taken ? kNotOurs : file.storage->hint(what.error);
    context.fail_operation(std::move(what), hint);
    return false;
  }
  context.meter().record(what.kind, begin, end, 0);
  context.count(0, 1);
  context.tick(end);
  // A file that was just made must be listed, and its sharers wait for it: no stop before that.
  if (what.kind != OperationKind::kCreate) context.check_limit(end);
  return true;
}

void remember(Context& context, FileState& file, OpenFile open) {
  if (context.remembers_paths) file.touched.insert(open.path);
  tell_facts(context, file, open.handle);
  file.open.push_back(std::move(open));
}

/// Refuses what an operation would do to a name that became something else than the run made.
void refuse(RunControl& control, OperationKind kind, const std::string& path) {
  control.fail_operation({.kind = kind, .path = path, .what = "it is not what this run made"},
                         kNotOurs);
}

/// Whether a file that was just opened may be used; closes it if not.
bool admit(Context& context, const FileState& file, const OpenFile& open) {
  backend::Identity found;
  if (file.plain->identify(open.handle, found) != 0) return true;  // nothing real
  const bool fine = file.plan->foreign ? found.regular : is_our_file(context, open.path, found);
  if (fine) return true;
  file.plain->close(open.handle);
  if (file.plan->foreign) {
    throw base::plan_error(file.plan->name, open.path + " is not a regular file");
  }
  refuse(context, OperationKind::kOpen, open.path);
  return false;
}

/// Whether a name may be removed. If there is none, the removal will say so.
bool may_remove(Context& context, const FileState& file, OperationKind kind,
                const std::string& path) {
  backend::Identity found;
  if (!file.plain->traits().real_files) return true;
  if (file.plain->look_up(backend::Backend::kRoot, path.c_str(), found) != 0) return true;
  const bool fine = kind == OperationKind::kRmdir ? !context.manifest->denies(path, found)
                                                  : is_our_file(context, path, found);
  if (!fine) refuse(context, kind, path);
  return fine;
}

void open_file(Context& context, FileState& file, const std::string& path) {
  OpenFile open{.path = path, .history = context.history_of(file)};
  const OpenMode mode = file.plan->foreign ? OpenMode::kRead : OpenMode::kReadWrite;
  const bool fine = measured(context, file, {.kind = OperationKind::kOpen, .path = path}, [&] {
    return file.storage->open(backend::Backend::kRoot, path.c_str(), mode, open.handle);
  });
  if (!fine || !admit(context, file, open)) return;
  if (!find_stamps(context, file, open)) {
    file.plain->close(open.handle);
    return;
  }
  remember(context, file, std::move(open));
}

void create_file(Context& context, FileState& file, const std::string& path) {
  OpenFile open{.path = path, .history = context.history_of(file)};
  NameMaker maker(context, file, *file.storage);
  const bool fine = measured(context, file, {.kind = OperationKind::kCreate, .path = path},
                             [&] { return maker.create(path, open.handle); });
  if (!fine) return;
  maker.list_file(path, open.handle, file.plan->keep ? EntryKind::kKept : EntryKind::kFile);
  remember(context, file, std::move(open));
}

/// The first sharer creates, then the others open. Every rank comes to the wait.
void create(Context& context, const schema::Manage& step, FileState& file) {
  bool creator = false;
  context.guard([&] {
    const std::uint64_t owner = context.owner_of(step.owner);
    const ActAs acting(context, owner);
    creator = context.first_sharer(*file.plan, owner) == owner;
    const std::string path = context.path_of(*file.plan);
    if (History* history = context.history_of(file); history != nullptr) history->restart();
    file.reach.restart();
    if (creator && !context.idle()) create_file(context, file, path);
  });
  if (file.plan->sharing == schema::Sharing::kRank) return;
  context.meet();
  context.guard([&] {
    if (creator || context.idle()) return;
    const ActAs acting(context, context.owner_of(step.owner));
    open_file(context, file, context.path_of(*file.plan));
  });
}

void close_file(Context& context, FileState& file, const std::string& path) {
  OpenFile* open = file.find(path);
  if (open == nullptr && context.idle()) return;  // the limit came before it was opened
  if (open == nullptr) throw base::plan_error(file.plan->name, "close of a file that is not open");
  context.note_close(*open);
  const backend::Handle handle = open->handle;
  file.open.erase(file.open.begin() + (open - file.open.data()));
  const Charge charge(context, file, path);
  measured(context, file, {.kind = OperationKind::kClose, .path = path},
           [&] { return file.storage->close(handle); });
}

/// Of a file that is open at this moment the descriptor is asked, as programs do.
void stat_name(Context& context, FileState& file, const std::string& path) {
  const OpenFile* open = file.find(path);
  measured(context, file, {.kind = OperationKind::kStat, .path = path}, [&] {
    const int error = open != nullptr ? file.storage->stat_open(open->handle) : ENOTSUP;
    return error != ENOTSUP ? error : file.storage->stat(backend::Backend::kRoot, path.c_str());
  });
}

/// A name that is not there is asked for; it lies where the file's does.
void ask_for_nothing(Context& context, FileState& file, const std::string& path) {
  const std::string absent = path + '~';
  measured(context, file, {.kind = OperationKind::kMiss, .path = absent}, [&] {
    const int error = file.storage->stat(backend::Backend::kRoot, absent.c_str());
    if (error == 0) return file.plain->traits().real_files ? EEXIST : 0;
    return error == ENOENT || error == ENOTDIR ? 0 : error;
  });
}

/// Of a file that is open at this moment the descriptor's, as programs do, else the name's, which
/// may be a directory's.
void set_status(Context& context, FileState& file, const std::string& path,
                backend::StatusPart part) {
  constexpr auto kKind = OperationKind::kSetAttribute;
  const OpenFile* open = file.find(path);
  backend::Identity found;
  const bool is_named = open == nullptr && file.plain->traits().real_files &&
                        file.plain->look_up(backend::Backend::kRoot, path.c_str(), found) == 0;
  if (is_named && context.manifest->denies(path, found)) return refuse(context, kKind, path);
  measured(context, file, {.kind = kKind, .path = path}, [&] {
    const int error = open != nullptr ? file.storage->set_open_status(open->handle, part) : ENOTSUP;
    return error != ENOTSUP ? error
                            : file.storage->set_status(backend::Backend::kRoot, path.c_str(), part);
  });
}

void unlink_file(Context& context, FileState& file) {
  const std::string path = context.path_of(*file.plan);
  if (!may_remove(context, file, OperationKind::kUnlink, path)) return;
  measured(context, file, {.kind = OperationKind::kUnlink, .path = path},
           [&] { return file.storage->unlink(backend::Backend::kRoot, path.c_str()); });
  file.touched.erase(path);
}

/// A file gets the name of another entry, unless somebody else's file has it.
void rename_file(Context& context, FileState& file, FileState& target) {
  constexpr auto kRename = OperationKind::kRename;
  const std::string path = context.path_of(*file.plan);
  const std::string name = context.path_of(*target.plan);
  NameMaker maker(context, target, *file.storage);
  backend::Identity taken;
  const bool replaces = file.plain->look_up(backend::Backend::kRoot, name.c_str(), taken) == 0;
  if (!may_remove(context, file, kRename, path)) return;
  if (replaces && !(is_our_file(context, name, taken) && context.manifest->owns(taken))) {
    return refuse(context, kRename, name);
  }
  const bool fine = measured(context, file, {.kind = kRename, .path = path},
                             [&] { return maker.rename(path, name, replaces); });
  if (!fine) return;
  maker.list_name(name, target.plan->keep ? EntryKind::kKept : EntryKind::kFile);
  file.touched.erase(path);
  if (context.remembers_paths) target.touched.insert(name);
}

void truncate_file(Context& context, FileState& file, std::uint64_t bytes) {
  const std::string path = context.path_of(*file.plan);
  OpenFile* open = file.find(path);
  if (open == nullptr) {
    throw base::plan_error(file.plan->name, "truncation of a file that is not open");
  }
  open->end.reset();
  measured(context, file, {.kind = OperationKind::kTruncate, .path = path},
           [&] { return file.storage->truncate(open->handle, bytes); });
}

/// A file is opened, the other one made with the same content, and both are closed.
void copy_file(Context& context, FileState& file, FileState& target, schema::CopyWay way) {
  const std::string path = context.path_of(*file.plan);
  const std::string name = context.path_of(*target.plan);
  context.note_read(file, context.group.rank());
  target.reach.restart();
  open_file(context, file, path);
  if (!context.failed()) create_file(context, target, name);
  const OpenFile* from = file.find(path);
  OpenFile* to = target.find(name);
  if (from != nullptr && to != nullptr) {
    const CopyOutcome done =
        copy_content(context, {*file.storage, from->handle, *target.storage, to->handle, way},
                     context.clock.now_ns());
    context.note_write(target, to);
    context.note_unsynced(*to, done.bytes);
    if (done.error != 0) {
      context.fail_operation({.kind = done.kind, .path = name, .error = done.error},
                             target.storage->hint(done.error));
    }
    context.after_operations(done.end_ns, done.bytes, done.operations);
    close_file(context, target, name);
  }
  if (file.find(path) != nullptr) close_file(context, file, path);
}

std::uint64_t nodes_of(const schema::File& file) {
  return file.tree ? pattern::tree_nodes(file.tree->depth, file.tree->branch) : 1;
}

/// The paths of a tree's directories, or the path of a single file.
class NodePaths {
 public:
  NodePaths(Context& context, const schema::File& file)
      : path_(context.path_of(file)), branch_(file.tree ? file.tree->branch : 1) {
    if (file.tree) names_.emplace(pattern::directory_name_parts(*file.tree), context.slots);
  }
  std::string operator()(std::uint64_t node) {
    if (!names_) return path_;
    return path_ + pattern::tree_node_path(node, static_cast<std::uint64_t>(branch_), *names_);
  }

 private:
  std::string path_;
  std::int64_t branch_;
  std::optional<pattern::TreeName> names_;
};

EntryKind directory_kind(const schema::File& file) {
  if (file.tree) return file.keep ? EntryKind::kKeptTree : EntryKind::kTree;
  return file.keep ? EntryKind::kKept : EntryKind::kDirectory;
}

void make_directories(Context& context, FileState& file) {
  NodePaths path_of_node(context, *file.plan);
  NameMaker maker(context, file, *file.storage);
  const std::uint64_t nodes = nodes_of(*file.plan);
  for (std::uint64_t node = 0; node < nodes && !context.idle(); ++node) {
    const std::string name = path_of_node(node);
    const bool fine = measured(context, file, {.kind = OperationKind::kMkdir, .path = name},
                               [&] { return maker.make_directory(name); });
    if (fine) maker.list_name(name, directory_kind(*file.plan));
  }
}

void remove_directories(Context& context, FileState& file) {
  file.trees.close_all(*file.plain);
  NodePaths path_of_node(context, *file.plan);
  for (std::uint64_t node = nodes_of(*file.plan); node > 0 && !context.idle(); --node) {
    const std::string name = path_of_node(node - 1);
    if (!may_remove(context, file, OperationKind::kRmdir, name)) return;
    measured(context, file, {.kind = OperationKind::kRmdir, .path = name},
             [&] { return file.storage->remove_directory(backend::Backend::kRoot, name.c_str()); });
  }
}

/// What only the first of those that share a name does, while the others wait: before it, because
/// they may still be at work below the name, and after it.
template <class Action>
void by_first_sharer(Context& context, const schema::Manage& step, FileState& file,
                     const Action& action) {
  const bool shared = file.plan->sharing != schema::Sharing::kRank;
  if (shared) context.wait();
  context.guard([&] {
    if (context.idle()) return;
    const std::uint64_t owner = context.owner_of(step.owner);
    const ActAs acting(context, owner);
    if (context.first_sharer(*file.plan, owner) == owner) action(context, file);
  });
  if (shared) context.wait();
}

void stat_all(Context& context, FileState& file) {
  NodePaths path_of_node(context, *file.plan);
  for (std::uint64_t node = 0; node < nodes_of(*file.plan) && !context.idle(); ++node) {
    stat_name(context, file, path_of_node(node));
  }
}

void read_all(Context& context, FileState& file) {
  NodePaths path_of_node(context, *file.plan);
  for (std::uint64_t node = 0; node < nodes_of(*file.plan) && !context.idle(); ++node) {
    const std::string name = path_of_node(node);
    std::uint64_t count = 0;
    measured(context, file, {.kind = OperationKind::kReadDir, .path = name}, [&] {
      return file.storage->read_directory(backend::Backend::kRoot, name.c_str(), count);
    });
  }
}

void make_tree(Context& context, FileState& file, EntryKind kind) {
  const std::uint64_t rank = context.group.rank();
  if (context.first_sharer(*file.plan, rank) != rank) return;
  NodePaths path_of_node(context, *file.plan);
  NameMaker maker(context, file, *file.plain);
  for (std::uint64_t node = 0; node < nodes_of(*file.plan); ++node) {
    const std::string name = path_of_node(node);
    const int error = maker.make_directory(name);
    if (error == EEXIST) continue;
    if (error != 0) {
      context.fail_operation({.kind = OperationKind::kMkdir, .path = name, .error = error}, "");
      return;
    }
    maker.list_name(name, file.plan->keep ? EntryKind::kKeptTree : kind);
  }
}

}  // namespace

bool manage_waits(const schema::File& file, NameVerb verb) {
  if (is_opened_together(file) && (verb == NameVerb::kOpen || verb == NameVerb::kClose)) {
    return true;
  }
  return file.sharing != schema::Sharing::kRank &&
         (verb == NameVerb::kCreate || verb == NameVerb::kUnlink || verb == NameVerb::kMkdir ||
          verb == NameVerb::kRmdir || verb == NameVerb::kRename || verb == NameVerb::kTruncate ||
          verb == NameVerb::kCopy);
}

void run_manage(Context& context, const schema::Manage& step) {
  FileState& file = context.files[static_cast<std::size_t>(step.file)];
  const bool opens = step.verb == NameVerb::kCreate || step.verb == NameVerb::kOpen;
  if ((opens || step.verb == NameVerb::kClose) && is_opened_together(*file.plan)) {
    return manage_together(context, step, file);
  }
  switch (step.verb) {
    case NameVerb::kCreate:
      return create(context, step, file);
    case NameVerb::kUnlink:
      return by_first_sharer(context, step, file, unlink_file);
    case NameVerb::kRename:
      return by_first_sharer(context, step, file, [&step](Context& mine, FileState& one) {
        rename_file(mine, one, mine.files[static_cast<std::size_t>(step.to.value_or(0))]);
      });
    case NameVerb::kCopy:
      return by_first_sharer(context, step, file, [&step](Context& mine, FileState& one) {
        copy_file(mine, one, mine.files[static_cast<std::size_t>(step.to.value_or(0))],
                  step.way.value_or(schema::CopyWay::kClone));
      });
    case NameVerb::kTruncate:
      return by_first_sharer(context, step, file, [&step](Context& mine, FileState& one) {
        truncate_file(mine, one, mine.evaluator.count(*step.bytes, mine.slots, "manage.bytes"));
      });
    case NameVerb::kMkdir:
      return by_first_sharer(context, step, file, make_directories);
    case NameVerb::kRmdir:
      return by_first_sharer(context, step, file, remove_directories);
    default:  // each rank by itself
      break;
  }
  context.guard([&] {
    const bool ends = step.verb == NameVerb::kClose;
    if (ends ? context.failed() : context.idle()) return;
    const ActAs acting(context, context.owner_of(step.owner));
    if (step.verb == NameVerb::kStat) return stat_all(context, file);
    if (step.verb == NameVerb::kReadDir) return read_all(context, file);
    const std::string path = context.path_of(*file.plan);
    if (step.verb == NameVerb::kOpen) return open_file(context, file, path);
    if (step.verb == NameVerb::kMiss) return ask_for_nothing(context, file, path);
    if (const auto part = status_part(step.verb)) return set_status(context, file, path, *part);
    close_file(context, file, path);
  });
}

void close_all(RunFiles& run_files) {
  for (FileState& file : run_files.files) {
    // The run may have failed before this file had its interface.
    if (!file.plain) continue;
    for (const OpenFile& open : file.open) file.plain->close(open.handle);
    file.open.clear();
    file.trees.close_all(*file.plain);
  }
}

void forget_trees(RunFiles& run_files) {
  for (FileState& file : run_files.files) {
    file.trees.forget(*file.plain);
    for (auto& [key, reach] : file.item_reaches) reach.forget();
  }
}

void make_trees(Context& context, EntryKind kind) {
  for (FileState& file : context.files) {
    const bool mine = kind == EntryKind::kStagedTree ? file.stages : file.used;
    const bool wanted = mine && file.plan->tree && !file.plan->foreign &&
                        (!file.has_mkdir || kind == EntryKind::kStagedTree) &&
                        (kind == EntryKind::kStagedTree) == file.plan->prestage.has_value();
    if (!wanted) continue;
    context.guard([&] { make_tree(context, file, kind); });
    context.wait();
  }
}

}  // namespace venturi::execute

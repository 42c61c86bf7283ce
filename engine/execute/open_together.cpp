// Files that their sharers create, open and close together, as MPI's libraries want it.
#include <cerrno>
#include <utility>

#include "backend/table.hpp"
#include "base/random.hpp"
#include "execute/make_name.hpp"
#include "execute/step.hpp"

namespace venturi::execute {
namespace {

using backend::OpenMode;
using schema::NameVerb;
using schema::OperationKind;

/// One call of all who share a file. A rank that failed has taken part.
class Together {
 public:
  Together(Context& context, const schema::Manage& step, FileState& file)
      : context_(context), step_(step), file_(file) {}

  /// The first sharer makes the name, then all open it.
  void create() {
    context_.guard([&] {
      const std::uint64_t owner = context_.owner_of(step_.owner);
      const ActAs acting(context_, owner);
      is_creator_ = context_.first_sharer(*file_.plan, owner) == owner;
      const std::string path = context_.path_of(*file_.plan);
      if (History* history = context_.history_of(file_); history != nullptr) history->restart();
      file_.reach.restart();
      if (is_creator_ && !context_.failed()) make_name(path);
    });
    open();
  }

  void open() {
    // A rank that is not here would leave the others in the library.
    context_.meet();
    if (context_.failed()) return;
    context_.guard([&] {
      const ActAs acting(context_, context_.owner_of(step_.owner));
      path_ = context_.path_of(*file_.plan);
    });
    const bool alike = agree_on_path();
    context_.guard([&] {
      if (alike || context_.failed()) return;
      throw base::plan_error(file_.plan->name,
                             "ranks that share a file would open different files together");
    });
    context_.wait();
    if (context_.failed()) return;
    open_file();
    context_.wait();
  }

  void close() {
    if (context_.limiter) context_.limiter->settle(context_.meter().operations());
    context_.wait();
    if (context_.failed()) return;
    context_.guard([&] {
      const ActAs acting(context_, context_.owner_of(step_.owner));
      path_ = context_.path_of(*file_.plan);
      if (file_.find(path_) == nullptr) {
        throw base::plan_error(file_.plan->name, "close of a file that is not open");
      }
    });
    context_.wait();
    if (context_.failed()) return;
    OpenFile* found = file_.find(path_);
    context_.note_close(*found);
    const backend::Handle handle = found->handle;
    file_.open.erase(file_.open.begin() + (found - file_.open.data()));
    const Charge charge(context_, file_, path_);
    measure(OperationKind::kClose, [&] { return file_.storage->close(handle); });
  }

 private:
  void make_name(const std::string& path) {
    NameMaker maker(context_, file_, *file_.storage);
    backend::Handle none = -1;
    const std::uint64_t begin = context_.clock.now_ns();
    const int error = maker.create(path, none);
    before_ns_ = context_.clock.now_ns() - begin;
    if (error != 0) {
      context_.fail_operation({.kind = OperationKind::kCreate, .path = path, .error = error},
                              error == EEXIST ? kNotOurs : file_.storage->hint(error));
      return;
    }
    maker.list_file(path, none, file_.plan->keep ? EntryKind::kKept : EntryKind::kFile);
  }

  bool agree_on_path() {
    const std::uint64_t key = base::key_of(path_) >> 1U;
    return file_.sharers->maximum(key) == file_.sharers->minimum(key);
  }

  void open_file() {
    OpenFile open{.path = path_, .history = context_.history_of(file_)};
    const OpenMode mode = file_.plan->foreign ? OpenMode::kRead : OpenMode::kReadWrite;
    const auto kind = is_creator_ ? OperationKind::kCreate : OperationKind::kOpen;
    const bool fine = measure(kind, [&] {
      return file_.storage->open(backend::Backend::kRoot, path_.c_str(), mode, open.handle);
    });
    if (!fine) return;
    if (context_.remembers_paths) file_.touched.insert(path_);
    backend::Identity found;
    if (file_.plain->identify(open.handle, found) == 0 && !file_.plan->foreign &&
        !is_our_file(context_, path_, found)) {
      context_.fail_operation(
          {.kind = OperationKind::kOpen, .path = path_, .what = "it is not what this run made"},
          kNotOurs);
    }
    find_stamps(context_, file_, open);
    tell_facts(context_, file_, open.handle);
    file_.open.push_back(std::move(open));
  }

  /// One measured call; what came before it at this rank alone is part of its time.
  template <class Call>
  bool measure(OperationKind kind, const Call& call) {
    const std::uint64_t begin = context_.clock.now_ns();
    const int error = call();
    const std::uint64_t end = context_.clock.now_ns();
    if (error == ECANCELED) return false;  // another rank failed, and says so
    if (error != 0) {
      context_.fail_operation({.kind = kind, .path = path_, .error = error},
                              file_.storage->hint(error));
      context_.note_left_alone();
      return false;
    }
    context_.meter().record(kind, begin - before_ns_, end, 0);
    before_ns_ = 0;
    context_.count(0, 1);
    context_.tick(end);
    return true;
  }

  Context& context_;
  const schema::Manage& step_;
  FileState& file_;
  std::string path_;
  bool is_creator_ = false;
  std::uint64_t before_ns_ = 0;
};

}  // namespace

void tell_facts(Context& context, FileState& file, backend::Handle handle) {
  if (file.has_told_facts || context.group.rank() != 0) return;
  file.has_told_facts = true;
  schema::FileFacts event{.file = file.plan->name, .facts = file.plain->facts(handle)};
  if (!event.facts.empty()) context.report(std::move(event));
}

bool is_opened_together(const schema::File& file) {
  return file.sharing != schema::Sharing::kRank && !file.tree &&
         backend::row_of(file.interface).entry->needs_sharers;
}

void manage_together(Context& context, const schema::Manage& step, FileState& file) {
  Together together(context, step, file);
  if (step.verb == NameVerb::kCreate) return together.create();
  if (step.verb == NameVerb::kOpen) return together.open();
  together.close();
}

}  // namespace venturi::execute

// Data that must be there before a repetition; written unmeasured and without faults.
#include <algorithm>
#include <cerrno>

#include "base/random.hpp"
#include "execute/make_name.hpp"
#include "execute/step.hpp"

namespace venturi::execute {
namespace {

using backend::Backend;
using backend::Handle;
using backend::OpenMode;
using schema::OperationKind;

constexpr std::uint64_t kStageBytes = 1'048'576;

/// One rank's part of one file.
class Stage {
 public:
  Stage(Context& context, FileState& file) : context_(context), file_(file) {}

  /// The first of the sharers makes the file.
  void create() {
    const std::uint64_t rank = context_.group.rank();
    path_ = context_.path_of(*file_.plan);
    first_ = context_.first_sharer(*file_.plan, rank) == rank;
    if (!first_ || context_.has_problem()) return;
    NameMaker maker(context_, file_, *file_.plain);
    check(maker.create(path_, handle_));
    if (context_.has_problem()) return;
    maker.list_file(path_, handle_, file_.plan->keep ? EntryKind::kKept : EntryKind::kStagedFile);
  }

  /// Every rank writes its part and makes it persistent.
  void write() {
    if (context_.failed()) return;
    if (!first_ || file_.plain->traits().opens_together) {
      check(file_.plain->open(Backend::kRoot, path_.c_str(), OpenMode::kReadWrite, handle_));
      if (!context_.has_problem()) admit();
    }
    if (backend::moves_together(*file_.plan)) {
      write_together();
    } else if (!context_.has_problem()) {
      write_part();
    }
    if (!context_.has_problem()) check(file_.plain->sync(handle_, schema::SyncMode::kFsync));
    if (handle_ >= 0) file_.plain->close(handle_);
    if (context_.remembers_paths) file_.touched.insert(path_);
  }

 private:
  void admit() {
    backend::Identity found;
    if (file_.plain->identify(handle_, found) != 0 || is_our_file(context_, path_, found)) return;
    file_.plain->close(handle_);
    handle_ = -1;
    context_.fail_operation({.kind = OperationKind::kOpen, .path = path_, .error = EEXIST},
                            kNotOurs);
  }

  void write_part() {
    const std::uint64_t part =
        context_.evaluator.count(*file_.plan->prestage, context_.slots, "prestage");
    const std::uint64_t base_bytes =
        context_.sharer_index(*file_.plan, context_.group.rank()) * part;
    const payload::Stamp stamp = context_.stamp(*file_.plan, base::key_of(path_), 0, 0);
    std::byte* data = context_.filler(*file_.plan, kStageBytes);
    while (done_ < part && !context_.failed()) {
      const backend::Request request{base_bytes + done_, std::min(kStageBytes, part - done_), data};
      fill(request, stamp);
      backend::Completion completion;
      file_.plain->submit(handle_, schema::Direction::kWrite, {&request, 1}, {&completion, 1});
      check(completion.error == 0 && completion.bytes == 0 ? EIO : completion.error);
      done_ += completion.bytes;
      context_.tick(context_.clock.now_ns());
    }
  }

  /// All sharers come to every call; who has nothing left, or cannot go on, takes part with
  /// nothing.
  void write_together() {
    if (file_.sharers->maximum(static_cast<std::uint64_t>(context_.has_problem())) != 0) return;
    std::uint64_t part = 0;
    context_.guard([&] {
      part = context_.evaluator.count(*file_.plan->prestage, context_.slots, "prestage");
    });
    const std::uint64_t calls = file_.sharers->maximum((part + kStageBytes - 1) / kStageBytes);
    const std::uint64_t base_bytes =
        context_.sharer_index(*file_.plan, context_.group.rank()) * part;
    const payload::Stamp stamp = context_.stamp(*file_.plan, base::key_of(path_), 0, 0);
    std::byte* data = context_.filler(*file_.plan, kStageBytes);
    for (std::uint64_t call = 0; call < calls; ++call) {
      const std::uint64_t left = context_.failed() ? 0 : part - done_;
      const backend::Request request{base_bytes + done_, std::min(kStageBytes, left), data};
      fill(request, stamp);
      const backend::Completion completion =
          file_.plain->submit_together(handle_, schema::Direction::kWrite, request);
      if (request.bytes > 0 && completion.bytes != request.bytes) {
        check(completion.error == 0 ? EIO : completion.error);
      }
      done_ += request.bytes;
      context_.tick(context_.clock.now_ns());
    }
    file_.plain->end_together(handle_);
  }

  void fill(const backend::Request& request, const payload::Stamp& stamp) {
    const std::span data(request.data, request.bytes);
    if (file_.plan->content.verify) return stamp.fill(data, request.offset);
    if (payload::Stream* stream = context_.stream(file_); stream != nullptr) stream->fill(data);
  }

  void check(int error) {
    if (error == 0) return;
    context_.fail_operation(
        {.kind = OperationKind::kWrite, .path = path_, .offset = done_, .error = error},
        file_.plain->hint(error));
  }

  static constexpr std::uint64_t kStageBytes = 1'048'576;

  Context& context_;
  FileState& file_;
  std::string path_;
  bool first_ = false;
  Handle handle_ = -1;
  std::uint64_t done_ = 0;
};

void stage_file(Context& context, FileState& file) {
  Stage stage(context, file);
  context.guard([&] { stage.create(); });
  context.wait();
  context.guard([&] { stage.write(); });
}

/// Every file that the turns of the loops in its path name.
void stage_names(Context& context, FileState& file, std::size_t depth) {
  if (depth == file.plan->staged_loops.size()) return stage_file(context, file);
  const schema::StagedLoop& loop = file.plan->staged_loops[depth];
  const auto slot = static_cast<std::size_t>(loop.variable);
  const pattern::TurnColumns& columns =
      context.columns_of(loop.columns, static_cast<std::uint64_t>(loop.count));
  for (std::int64_t turn = 0; turn < loop.count; ++turn) {
    context.slots[slot] = turn;
    columns.set(context.slots, static_cast<std::uint64_t>(turn));
    stage_names(context, file, depth + 1);
  }
  context.slots[slot] = std::int64_t{0};
  columns.reset(context.slots);
}

}  // namespace

void prestage(Context& context, bool again) {
  if (!again) make_trees(context, EntryKind::kStagedTree);
  for (FileState& file : context.files) {
    if (again && file.plan->prestage && file.is_linked && file.stages) {
      context.guard([&] { remove_links(context, file); });
    }
    if (!file.plan->prestage || (again && !file.is_removed)) continue;
    if (file.plan->tree && file.stages) {
      context.guard([&] { create_items(context, file); });
    } else if (file.stages) {
      stage_names(context, file, 0);
    }
    if (!file.storage->traits().real_files) continue;
    const bool bypasses = file.storage->traits().bypasses_cache;
    file.residency = bypasses ? Residency::kStorage : Residency::kMemory;
  }
}

}  // namespace venturi::execute

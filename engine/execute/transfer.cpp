// A transfer step: finds its file, chooses the way its requests are made, notes what was done.
#include <fmt/format.h>

#include <optional>
#include <variant>

#include "base/random.hpp"
#include "execute/moving.hpp"
#include "execute/program.hpp"
#include "execute/schedule.hpp"
#include "execute/step.hpp"
#include "pattern/access.hpp"

namespace venturi::execute {
namespace {

/// Reads no more than a phase with a limit wrote.
void keep_within(pattern::Cursor& cursor, const FileState& file, const schema::Transfer& step,
                 std::uint64_t owner, std::uint64_t size_bytes) {
  if (!file.reach.is_cut() || size_bytes == 0) return;
  const std::uint64_t requests = file.reach.of(owner) / size_bytes;
  if (file.reach.order() != Reach::kFromBeginning) {
    auto* random = std::get_if<pattern::RandomCursor>(&cursor);
    if (random == nullptr || random->digest() != file.reach.order()) {
      throw base::plan_error(file.plan->name,
                             "a limit cut its random writes short, and a read of other places, or "
                             "in another order, would come to some that were never written; read "
                             "with the same pattern, or write in a phase without a limit");
    }
    return random->stop_after(requests);
  }
  const bool goes_on = std::holds_alternative<schema::Sequential>(step.pattern.value);
  const bool in_order = std::holds_alternative<pattern::NestCursor>(cursor) ||
                        std::holds_alternative<pattern::MixedCursor>(cursor);
  if (std::holds_alternative<pattern::TableCursor>(cursor) || goes_on ||
      (!in_order && file.plan->sharing != schema::Sharing::kRank)) {
    throw base::plan_error(
        file.plan->name,
        "reads in random order, by a table, or from the position on, of a file that a limit "
        "cut short; write it in a phase without a limit");
  }
  std::visit([&](auto& any) { any.keep_within(requests); }, cursor);
}

/// Notes how far the step came, where that says which bytes are there.
void note_reach(const Context& context, FileState& file, const schema::Transfer& step,
                const pattern::Cursor& cursor, std::uint64_t owner, std::uint64_t done_bytes) {
  const bool appends_to_all = std::holds_alternative<schema::Append>(step.pattern.value) &&
                              file.plan->sharing != schema::Sharing::kRank;
  if (!context.limiter) return file.reach.note_unlimited();
  if (appends_to_all || step.reads > 0.0) return;
  const auto note = [&](std::uint64_t bytes, std::uint64_t order) {
    file.reach.note(owner, context.group.size(), bytes, order);
  };
  if (std::holds_alternative<pattern::NestCursor>(cursor) ||
      std::holds_alternative<pattern::BoxCursor>(cursor)) {
    note(done_bytes, Reach::kFromBeginning);
  } else if (const auto* random = std::get_if<pattern::RandomCursor>(&cursor)) {
    note(done_bytes, random->digest());
  } else if (const auto* mixed = std::get_if<pattern::MixedCursor>(&cursor)) {
    const bool is_random = std::holds_alternative<schema::Random>(step.pattern.value);
    note(mixed->taken_bytes(), is_random ? Reach::kUnknown : Reach::kFromBeginning);
  }
}

/// Where requests begin that go on: at the end of the file, or at its position.
std::uint64_t start_of(Context& context, const FileState& file, const OpenFile& open,
                       const schema::Transfer& step) {
  if (const auto* sequential = std::get_if<schema::Sequential>(&step.pattern.value)) {
    if (!sequential->base) return open.position;
    return context.evaluator.count(*sequential->base, context.slots, "pattern.base");
  }
  if (!std::holds_alternative<schema::Append>(step.pattern.value)) return 0;
  if (open.end) return *open.end;
  backend::Identity found;
  return file.storage->identify(open.handle, found) == 0 ? found.bytes : 0;
}

/// Notes where an open file is after so many bytes of a step. All writes to a file that is appended
/// to go to its end, so that the end of one that no other rank writes need not be asked for again.
void note_place(const FileState& file, OpenFile& open, const schema::Transfer& step,
                std::uint64_t end_bytes) {
  if (std::holds_alternative<schema::Sequential>(step.pattern.value)) open.position = end_bytes;
  const bool is_own = file.plan->sharing == schema::Sharing::kRank && !file.plan->content.verify;
  if (is_own && std::holds_alternative<schema::Append>(step.pattern.value)) open.end = end_bytes;
}

/// The keys of a step's random choices.
struct Keys {
  /// The same on all ranks.
  std::uint64_t places;
  /// Each rank's own, but where ranks read and write together.
  std::uint64_t order;
  /// Each rank's own, but where ranks begin their requests together.
  std::uint64_t arrivals;
};

Keys keys_of(const RankView& view, const schema::Transfer& step, std::uint64_t owner) {
  const std::uint64_t places =
      base::combine(base::combine(static_cast<std::uint64_t>(view.plan.seed),
                                  static_cast<std::uint64_t>(step.file)),
                    view.repetition);
  const std::uint64_t own = base::combine(places, owner + 1);
  const bool together = is_together(view.plan, step);
  const std::uint64_t order = together && step.reads > 0.0 ? base::combine(places, 0) : own;
  return {places, order, base::combine(together ? places : own, base::key_of("arrivals"))};
}

/// Whether places, sizes or directions of a step are chosen by chance.
bool has_chance(const schema::Transfer& step) {
  return std::holds_alternative<schema::Random>(step.pattern.value) || !step.mix.empty() ||
         step.reads > 0.0;
}

/// Chooses the way the requests are made: in calls of all sharers (`together`), or another.
std::uint64_t move(Moving& moving, pattern::Cursor& cursor, std::uint64_t owner, bool together) {
  const schema::Transfer& step = moving.step;
  const bool in_flight = step.depth > 1;
  if (!together && !in_flight && step.rate_per_s == 0.0 && step.reads == 0.0) {
    return move_in_order(moving, cursor);
  }
  const std::uint64_t arrivals_key = keys_of(moving.context, step, owner).arrivals;
  std::optional<Moving> turned;
  if (step.reads > 0.0) {
    turned.emplace(moving.context, step, moving.open, moving.size_bytes, Moving::Way::kTurned);
    if (!in_flight) turned->arrange(1);
  }
  if (together) return move_together(moving, turned ? *turned : moving, cursor, arrivals_key);
  std::optional<Schedule> schedule;
  if (step.rate_per_s > 0.0) schedule.emplace(moving.context, step, arrivals_key);
  const auto way = in_flight ? move_in_flight : move_in_turn;
  return way(moving, turned ? *turned : moving, cursor, schedule ? &*schedule : nullptr);
}

/// The file that a step moves data of, open under the name that the slots give it. Throws
/// base::Error (exit 2) if it is not.
OpenFile& open_of(Context& context, const schema::Transfer& step) {
  FileState& file = context.files[static_cast<std::size_t>(step.file)];
  OpenFile* open = file.find(context.current_path(static_cast<std::size_t>(step.file)));
  if (open != nullptr) return *open;
  throw base::plan_error(file.plan->name, "a transfer to a file that is not open");
}

/// Has the requests of a step made by `act`, and notes what follows for the file and for those who
/// count; returns the bytes that they moved in the step's direction.
template <class Act>
std::uint64_t carry_out(Moving& moving, const Act& act) {
  Context& context = moving.context;
  const auto moved_bytes = [&] { return context.meter().tally(moving.kind).bytes; };
  const Charge charge(context, moving.file, moving.open.path);
  const std::uint64_t saved_before = moving.file.storage->saved_bytes();
  const std::uint64_t bytes_before = moved_bytes();
  act();
  const std::uint64_t bytes = moved_bytes() - bytes_before;
  context.meter().add_saved(moving.file.storage->saved_bytes() - saved_before);
  if (!moving.writes || moving.step.sync != schema::SyncMode::kNone) return bytes;
  context.note_unsynced(moving.open, bytes);
  context.note_write(moving.file, &moving.open);
  return bytes;
}

/// Meetings of the sharers of a file: which there are in a step, or to which a rank has come.
struct Meetings {
  /// Where they make the file show their places.
  bool at_showing = false;
  /// Where they make calls together.
  bool at_calls = false;
};

/// Moves the data of a step, and notes to which of its meetings of the sharers this rank came.
void transfer(Context& context, const schema::Transfer& step, const Meetings& meetings,
              Meetings& came) {
  const std::uint64_t owner = context.owner_of(step.owner);
  const ActAs acting(context, owner);
  FileState& file = context.files[static_cast<std::size_t>(step.file)];
  const std::uint64_t size = context.evaluator.count(step.size, context.slots, "size");
  OpenFile& open = open_of(context, step);
  const std::uint64_t start = start_of(context, file, open, step);
  pattern::Cursor cursor = cursor_of(context, file, step, owner, size, start);
  const bool writes = step.operation == schema::Direction::kWrite;
  Rewrite* rewrite = writes && open.history != nullptr
                         ? &note_rewrite(context, file, *open.history, step, size)
                         : nullptr;
  Moving moving(context, step, open, size);
  if (!writes) keep_within(cursor, file, step, owner, size);
  if (!writes || step.reads > 0.0) context.note_read(file, owner);
  if (step.depth == 1) moving.arrange(1);
  if (meetings.at_showing) {
    const bool is_shown = show_places(moving, cursor);
    came.at_showing = true;
    if (!is_shown) return;
  }
  came.at_calls = true;
  std::uint64_t done = 0;
  const std::uint64_t bytes =
      carry_out(moving, [&] { done = move(moving, cursor, owner, meetings.at_calls); });
  note_place(file, open, step, start + bytes);
  if (rewrite != nullptr) rewrite->done = done;
  if (writes) note_reach(context, file, step, cursor, owner, done * size);
}

/// Writes out the whole file system: whatever was written before is persistent then.
void sync_file_system(Context& context, FileState& file, schema::SyncMode mode) {
  const std::uint64_t begin = context.clock.now_ns();
  const int error = file.storage->sync(0, mode);
  const std::uint64_t end = context.clock.now_ns();
  if (error != 0) {
    context.fail_operation(
        {.kind = schema::OperationKind::kSync, .path = file.plan->name, .error = error},
        file.storage->hint(error));
    return;
  }
  context.meter().record(schema::OperationKind::kSync, begin, end, 0);
  if (file.storage->traits().real_files) {
    for (FileState& other : context.files) {
      for (OpenFile& open : other.open) context.note_sync(&open, mode);
    }
    for (PhaseState& phase : context.phases) phase.unsynced = false;
  }
  context.after_operations(end, 0, 1);
}

}  // namespace

pattern::Cursor cursor_of(Context& context, const FileState& file, const schema::Transfer& step,
                          std::uint64_t owner, std::uint64_t size_bytes,
                          std::uint64_t start_bytes) {
  const Keys keys = has_chance(step) ? keys_of(context, step, owner) : Keys{};
  return pattern::make_cursor(step,
                              {.slots = context.slots,
                               .size_bytes = size_bytes,
                               .key = keys.places,
                               .own_key = keys.order,
                               .start_bytes = start_bytes,
                               .datasets = file.plan->datasets,
                               .in_flight = kMostInFlight + static_cast<std::size_t>(step.depth)});
}

void run_transfer(Context& context, const schema::Transfer& step) {
  if (step.operation == schema::Direction::kWrite) context.writes.note(&step);
  const Meetings meetings{.at_showing = meets_first(context.plan, step),
                          .at_calls = is_together(context.plan, step)};
  Meetings came;
  if (!meetings.at_showing && !meetings.at_calls) {
    if (!context.idle()) transfer(context, step, meetings, came);
    return;
  }
  context.guard([&] {
    if (!context.failed()) transfer(context, step, meetings, came);
  });
  comm::Group& sharers = *context.files[static_cast<std::size_t>(step.file)].sharers;
  if (meetings.at_showing && !came.at_showing) fail_showing(sharers);
  if (meetings.at_calls && !came.at_calls) fail_together(sharers);
}

void run_rows(Context& context, const schema::Transfer& step, const pattern::RowCursor::Rows& rows,
              std::uint64_t largest_bytes) {
  context.note_file(step.file);
  context.guard([&] {
    const bool writes = step.operation == schema::Direction::kWrite;
    if (writes) context.writes.note(&step, rows.count);
    if (context.idle()) return;
    const std::uint64_t owner = context.owner_of(step.owner);
    const ActAs acting(context, owner);
    FileState& file = context.files[static_cast<std::size_t>(step.file)];
    OpenFile& open = open_of(context, step);
    pattern::RowCursor cursor(rows,
                              rows.places == nullptr ? start_of(context, file, open, step) : 0);
    Moving moving(context, step, open, largest_bytes);
    if (!writes) context.note_read(file, owner);
    moving.arrange(1);
    carry_out(moving, [&] { move_in_order(moving, cursor); });
    note_place(file, open, step, cursor.end_bytes());
    if (writes) file.reach.note_unlimited();
  });
}

/// Whether an open file could be made persistent.
bool sync_open(Context& context, FileState& file, OpenFile& open, schema::SyncMode mode) {
  const Charge charge(context, file, open.path);
  const std::uint64_t begin = context.clock.now_ns();
  const int error = file.storage->sync(open.handle, mode);
  const std::uint64_t end = context.clock.now_ns();
  if (error != 0) {
    context.fail_operation(
        {.kind = schema::OperationKind::kSync, .path = open.path, .error = error},
        file.storage->hint(error));
    return false;
  }
  context.meter().record(schema::OperationKind::kSync, begin, end, 0);
  context.note_sync(&open, mode);
  context.after_operations(end, 0, 1);
  return true;
}

void run_sync(Context& context, const schema::Sync& step) {
  if (context.failed()) return;
  FileState& file = context.files[static_cast<std::size_t>(step.file)];
  if (step.mode == schema::SyncMode::kFileSystem) {
    sync_file_system(context, file, step.mode);
    return;
  }
  if (step.is_named) {
    OpenFile* open = file.find(context.current_path(static_cast<std::size_t>(step.file)));
    if (open == nullptr) {
      throw base::plan_error(file.plan->name, "a sync of a file that is not open");
    }
    sync_open(context, file, *open, step.mode);
    return;
  }
  for (OpenFile& open : file.open) {
    if (!sync_open(context, file, open, step.mode)) return;
  }
}

}  // namespace venturi::execute

// The rules that a plan must obey beyond its schema.
#include "execute/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "backend/selection.hpp"
#include "backend/table.hpp"
#include "base/error.hpp"
#include "execute/group_check.hpp"
#include "execute/item_check.hpp"
#include "execute/loop_check.hpp"
#include "execute/name_check.hpp"
#include "execute/program.hpp"
#include "execute/step.hpp"
#include "kernel/table.hpp"
#include "pattern/expression.hpp"
#include "pattern/name.hpp"
#include "pattern/tree.hpp"
#include "payload/halo.hpp"
#include "payload/literal.hpp"

namespace venturi::execute {
namespace {

using base::plan_error;
using schema::NameVerb;

/// Walks the program once, with the path of each step.
class Checker {
 public:
  explicit Checker(const schema::Plan& plan) : plan_(plan) {}

  void check_program(const schema::Group& group, const std::string& where) {
    opened_.clear();
    at_work_ = false;
    ranks_ = group.ranks;
    steps(group.program, where + ".program", {});
  }

  void expression(const schema::Expression& code, const std::string& where) const {
    pattern::validate(code, plan_.slots.size(), where);
  }

 private:
  /// What surrounds a step.
  struct Around {
    bool limited = false;
    /// Not all ranks come here equally often.
    bool uneven = false;
    /// As often as each rank can.
    bool repeated = false;
    /// A loop within the phase.
    bool looped = false;
    std::set<std::int64_t> loops;
  };

  template <class Kind>
  static constexpr bool kNotesItsWork =
      std::is_same_v<Kind, schema::Manage> || std::is_same_v<Kind, schema::Phase> ||
      std::is_same_v<Kind, schema::Transfer>;

  void steps(const std::vector<schema::Step>& body, const std::string& where,
             const Around& around) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      const std::string place = fmt::format("{}[{}]", where, i);
      std::visit(
          [&](const auto& step) {
            if (!kNotesItsWork<std::decay_t<decltype(step)>>) at_work_ = true;
            one(step, place, around);
          },
          body[i].value);
    }
  }

  /// Refuses waits inside limits and where ranks would not come equally often.
  void wait(const std::string& where, const Around& around) const {
    if (around.limited) {
      throw plan_error(where, "ranks would wait for each other inside a phase with a time limit",
                       "move it out of the phase, or drop the limit");
    }
    if (around.uneven) {
      throw plan_error(where, "ranks would wait for others that do not come here as often",
                       "a count or condition around it differs between ranks");
    }
  }

  [[nodiscard]] bool differs(const schema::Expression& code) const {
    constexpr std::size_t kOwn[] = {static_cast<std::size_t>(schema::Slot::kRank),
                                    static_cast<std::size_t>(schema::Slot::kNode),
                                    static_cast<std::size_t>(schema::Slot::kNodeRank),
                                    static_cast<std::size_t>(schema::Slot::kNodeRanks)};
    return pattern::reads_slot(code, kOwn);
  }

  const schema::File& file(std::int64_t index, const std::string& where) const {
    if (index < 0 || static_cast<std::size_t>(index) >= plan_.files.size()) {
      throw plan_error(where + ".file", fmt::format("there is no file {}", index));
    }
    return plan_.files[static_cast<std::size_t>(index)];
  }

  void one(const schema::For& step, const std::string& where, const Around& around) {
    expression(step.count, where + ".count");
    if (step.first) expression(*step.first, where + ".first");
    const auto first = static_cast<std::int64_t>(schema::kSlotWords.size());
    if (step.variable < first || static_cast<std::size_t>(step.variable) >= plan_.slots.size()) {
      throw plan_error(where + ".variable", "is not the slot of a loop variable");
    }
    Around inside = around;
    if (!inside.loops.insert(step.variable).second) {
      throw plan_error(where + ".variable", "an enclosing loop has the same variable");
    }
    check_columns(step, plan_, where);
    for (const schema::TurnColumn& column : step.columns) {
      if (inside.loops.insert(column.variable).second) continue;
      throw plan_error(where + ".columns", "an enclosing loop has the same variable");
    }
    inside.uneven |= differs(step.count) || (step.first && differs(*step.first));
    inside.looped = true;
    steps(step.body, where + ".body", inside);
  }

  void one(const schema::Choose& step, const std::string& where, const Around& around) {
    expression(step.number, where + ".number");
    Around inside = around;
    inside.uneven |= differs(step.number);
    steps(step.body, where + ".body", inside);
  }

  void one(const schema::When& step, const std::string& where, const Around& around) {
    expression(step.condition, where + ".condition");
    Around inside = around;
    inside.uneven |= differs(step.condition);
    steps(step.body, where + ".body", inside);
  }

  void one(const schema::Phase& step, const std::string& where, const Around& around) {
    wait(where, around);
    Around inside = around;
    inside.limited = step.limit_s.has_value();
    inside.looped = false;
    at_work_ = false;
    sharers_.reset();
    steps(step.body, where + ".body", inside);
  }

  void one(const schema::Repeat& step, const std::string& where, const Around& around) {
    Around inside = around;
    inside.uneven = true;
    inside.repeated = true;
    steps(step.body, where + ".body", inside);
  }

  /// Who is stopped comes to every barrier all the same, but not as often as a loop has turns.
  void one(const schema::Barrier&, const std::string& where, const Around& around) {
    Around waiting = around;
    waiting.limited = around.limited && around.looped;
    wait(where, waiting);
  }

  void one(const schema::Signal& step, const std::string& where, const Around& around) const {
    if (around.limited || around.repeated) {
      throw plan_error(where,
                       "a rank that stops at a limit, or repeats what it does, would not give a "
                       "signal as often as others wait for it",
                       "move it out of the phase");
    }
    name(step.name, where);
    for (std::size_t i = 0; i < step.to.size(); ++i) {
      if (static_cast<std::size_t>(step.to[i]) < plan_.groups.size()) continue;
      throw plan_error(fmt::format("{}.to[{}]", where, i), "there is no such group");
    }
  }

  void one(const schema::Wait& step, const std::string& where, const Around& around) const {
    wait(where, around);
    name(step.name, where);
    expression(step.count, where + ".count");
  }

  void name(const std::vector<schema::PathPart>& parts, const std::string& where) const {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].value) expression(*parts[i].value, fmt::format("{}.name[{}].value", where, i));
    }
  }

  void one(const schema::Compute& step, const std::string& where, const Around&) {
    expression(step.seconds, where + ".seconds");
  }

  void one(const schema::Transfer& step, const std::string& where, const Around& around) {
    const schema::File& target = file(step.file, where);
    expression(step.owner, where + ".owner");
    expression(step.size, where + ".size");
    if (target.tree) throw plan_error(where + ".file", "a tree is written item by item");
    if (target.foreign && step.operation == schema::Direction::kWrite) {
      throw plan_error(where + ".operation", "a foreign file is only ever read");
    }
    if (!opened_.contains(step.file)) {
      throw plan_error(where + ".file", fmt::format("{} is not open here", target.name));
    }
    pattern(step.pattern, where + ".pattern");
    issue_mode(step, target, where);
    if (step.literal) payload::check(*step.literal, plan_.slots.size(), where + ".given");
    if (step.halo) payload::check(*step.halo, plan_.slots.size(), where + ".halo");
    if (step.literal && (step.operation == schema::Direction::kRead || target.content.verify)) {
      throw plan_error(where + ".given", "what is read, or checked by stamps, cannot be given");
    }
    must(target, step.depth > 1, backend::kDepth, where + ".depth");
    must(target, step.collective, backend::kCollective, where + ".collective");
    if (is_together(plan_, step)) together(step, target, where, around);
    if (meets_first(plan_, step)) showing(step, target, where, around);
    at_work_ = true;
    if (step.depth > 1 &&
        (step.sync != schema::SyncMode::kNone || step.think_s > 0.0 || is_together(plan_, step))) {
      throw plan_error(where + ".depth",
                       "requests in flight leave no room for syncs, pauses, and calls together",
                       "leave them out, or depth");
    }
    const bool is_box = std::holds_alternative<schema::Box>(step.pattern.value);
    must(target, is_box && !meets_first(plan_, step), backend::kDatasets, where + ".pattern");
    must(target, !is_box && !backend::takes_bytes(target), backend::kBytes, where + ".pattern");
  }

  /// Mixes of sizes and directions, rates, and writes at the end of a file.
  void issue_mode(const schema::Transfer& step, const schema::File& target,
                  const std::string& where) const {
    for (std::size_t i = 0; i < step.mix.size(); ++i) {
      expression(step.mix[i].bytes, fmt::format("{}.mix[{}].bytes", where, i));
    }
    if (step.reads > 0.0 && step.operation == schema::Direction::kRead) {
      throw plan_error(where + ".reads", "is the share of reads among writes");
    }
    const bool appends = std::holds_alternative<schema::Append>(step.pattern.value);
    const bool writes = step.operation == schema::Direction::kWrite;
    if (writes && appends != target.append) {
      throw plan_error(where + ".pattern",
                       appends ? "the file is not one that is appended to"
                               : "all writes to a file that is appended to go to its end");
    }
    if (appends && (!writes || step.reads > 0.0)) {
      throw plan_error(where + ".pattern", "only writes can go where the file ends");
    }
  }

  /// Calls together are waits, too. Under a limit those who share must be the same in all of them,
  /// because a rank that waits for the agreement is missed in a call with others.
  void together(const schema::Transfer& step, const schema::File& file, const std::string& where,
                const Around& around) {
    Around waiting = around;
    waiting.limited = false;
    if (around.uneven) refuse_some(file, step);
    if (file.sharing != schema::Sharing::kRank) wait(where, waiting);
    if (!around.limited) return;
    if (step.reads > 0.0) {
      throw plan_error(where + ".reads",
                       "a rank that a limit stopped would not know which of the calls read",
                       "drop the limit");
    }
    const std::pair sharers(file.sharing, file.every);
    if (sharers_.value_or(sharers) != sharers) {
      throw plan_error(where + ".collective",
                       "in a phase with a limit all files with collective calls must be shared "
                       "by the same ranks",
                       "drop the limit, or use phases of their own");
    }
    sharers_ = sharers;
  }

  /// Sharers meet before the step; as long as none can have reached a limit, it does no harm.
  void showing(const schema::Transfer& step, const schema::File& file, const std::string& where,
               const Around& around) const {
    const bool regular = std::holds_alternative<schema::Nest>(step.pattern.value) ||
                         std::holds_alternative<schema::Box>(step.pattern.value);
    if (!regular || !step.mix.empty() || step.reads > 0.0) {
      throw plan_error(where + ".pattern",
                       "a file view shows regular places of requests of one size and direction",
                       "leave out the option view of the file, or use another pattern");
    }
    Around waiting = around;
    waiting.limited = around.limited && at_work_ && !is_together(plan_, step);
    if (file.sharing != schema::Sharing::kRank) wait(where, waiting);
  }

  /// Refuses what the interface of the file cannot do.
  static void must(const schema::File& file, bool wanted, std::string_view capability,
                   const std::string& where) {
    const backend::Entry* entry = backend::row_of(file.interface).entry;
    if (!wanted || backend::can(*entry, capability)) return;
    throw plan_error(where,
                     fmt::format("{} cannot do this: {}", to_string(file.interface), capability),
                     "`venturi-engine describe` lists what each interface can do");
  }

  void pattern(const schema::Pattern& pattern, const std::string& where) const {
    if (const auto* nest = std::get_if<schema::Nest>(&pattern.value)) {
      expression(nest->base, where + ".base");
      for (std::size_t i = 0; i < nest->loops.size(); ++i) {
        expression(nest->loops[i].count, fmt::format("{}.loops[{}].count", where, i));
        expression(nest->loops[i].stride, fmt::format("{}.loops[{}].stride", where, i));
      }
      return;
    }
    if (const auto* box = std::get_if<schema::Box>(&pattern.value)) return boxes(*box, where);
    if (const auto* random = std::get_if<schema::Random>(&pattern.value)) {
      expression(random->base, where + ".base");
      expression(random->slots, where + ".slots");
      expression(random->count, where + ".count");
      expression(random->first, where + ".first");
      expression(random->step, where + ".step");
      return;
    }
    listed(pattern, where);
  }

  void listed(const schema::Pattern& pattern, const std::string& where) const {
    if (const auto* packed = std::get_if<schema::Packed>(&pattern.value)) {
      expression(packed->base, where + ".base");
      expression(packed->count, where + ".count");
    } else if (const auto* append = std::get_if<schema::Append>(&pattern.value)) {
      expression(append->count, where + ".count");
    } else if (const auto* onward = std::get_if<schema::Sequential>(&pattern.value)) {
      expression(onward->base.value_or(onward->count), where + ".base");
      expression(onward->count, where + ".count");
    } else {
      const auto& table = std::get<schema::Table>(pattern.value);
      expression(table.base, where + ".base");
      expression(table.turns, where + ".turns");
      expression(table.stride, where + ".stride");
      if (table.rows.size() > 4096) throw plan_error(where + ".rows", "has more than 4096 rows");
    }
  }

  void boxes(const schema::Box& box, const std::string& where) const {
    if (box.first_copy) expression(*box.first_copy, where + ".first_copy");
    for (std::size_t i = 0; i < box.start.size(); ++i) {
      expression(box.start[i], fmt::format("{}.start[{}]", where, i));
    }
    for (std::size_t i = 0; i < box.extent.size(); ++i) {
      expression(box.extent[i], fmt::format("{}.extent[{}]", where, i));
    }
    for (std::size_t i = 0; i < box.loops.size(); ++i) {
      expression(box.loops[i].count, fmt::format("{}.loops[{}].count", where, i));
      expression(box.loops[i].step, fmt::format("{}.loops[{}].step", where, i));
    }
  }

  void one(const schema::Manage& step, const std::string& where, const Around& around) {
    const schema::File& target = file(step.file, where);
    expression(step.owner, where + ".owner");
    if (step.bytes) expression(*step.bytes, where + ".bytes");
    if ((step.verb == NameVerb::kTruncate) != step.bytes.has_value()) {
      throw plan_error(where + ".bytes", "a truncation, and nothing else, leaves bytes");
    }
    const bool copies = step.verb == NameVerb::kCopy;
    if ((copies || step.verb == NameVerb::kRename) != step.to.has_value()) {
      throw plan_error(where + ".to", "a rename or a copy, and nothing else, has a second name");
    }
    if (copies != step.way.has_value()) {
      throw plan_error(where + ".way", "a copy, and nothing else, is done in a way");
    }
    if (step.to) {
      const schema::File& other = file(*step.to, where + ".to");
      copies ? check_copied(target, other, where + ".to")
             : check_renamed(target, other, where + ".to");
    }
    const bool reads = step.verb == NameVerb::kOpen || step.verb == NameVerb::kClose ||
                       step.verb == NameVerb::kStat || step.verb == NameVerb::kReadDir;
    if (target.foreign && !reads) {
      throw plan_error(where + ".verb", "a foreign file is only ever read");
    }
    const bool whole_tree = step.verb == NameVerb::kStat || step.verb == NameVerb::kMkdir ||
                            step.verb == NameVerb::kRmdir || step.verb == NameVerb::kReadDir;
    if (target.tree && !whole_tree) {
      throw plan_error(where + ".verb", "is done to items of a tree, not to the tree");
    }
    if (!target.tree && step.verb == NameVerb::kReadDir) {
      throw plan_error(where + ".verb", "is done to a tree's directories");
    }
    // Before anybody can have reached the limit, a shared file may be made or opened together; a
    // close together first waits until all have done what the limit lets them do.
    Around waiting = around;
    const bool opens = step.verb == NameVerb::kCreate || step.verb == NameVerb::kOpen;
    waiting.limited = around.limited && step.verb != NameVerb::kClose && (at_work_ || !opens);
    if (manage_waits(target, step.verb)) wait(where, waiting);
    if (step.verb == NameVerb::kCreate || step.verb == NameVerb::kOpen) opened_.insert(step.file);
  }

  void one(const schema::Items& step, const std::string& where, const Around& around) {
    expression(step.owner, where + ".owner");
    if (step.first) expression(*step.first, where + ".first");
    if (step.count) expression(*step.count, where + ".count");
    if (step.source) {
      check_copied_items(file(*step.source, where + ".source"), file(step.file, where),
                         where + ".source");
    }
    check_items(step, file(step.file, where), {around.limited, around.uneven}, where);
  }

  void one(const schema::Find& step, const std::string& where, const Around& around) {
    for (const schema::PathPart& part : step.top) {
      if (part.value) expression(*part.value, where + ".top");
    }
    if (step.foreign && (step.top.empty() || !step.top.front().text.starts_with('/'))) {
      throw plan_error(where + ".top", "somebody else's directory has an absolute path");
    }
    if (step.bytes) expression(*step.bytes, where + ".bytes");
    if (step.newer && file(*step.newer, where + ".newer").tree) {
      throw plan_error(where + ".newer", "is a tree, where one file is needed");
    }
    wait(where, around);
  }

  void one(const schema::Exec& step, const std::string& where, const Around& around) const {
    wait(where, around);
    name(step.command, where);
  }

  void one(const schema::Kernel& step, const std::string& where, const Around& around) const {
    wait(where, around);
    kernel::check(step, ranks_, plan_.clock == schema::ClockKind::kSimulated, where);
  }

  void one(const schema::Sync& step, const std::string& where, const Around&) {
    if (file(step.file, where).tree && step.mode != schema::SyncMode::kFileSystem) {
      throw plan_error(where + ".file", "items of a tree are synced item by item");
    }
  }

  const schema::Plan& plan_;
  std::set<std::int64_t> opened_;
  /// Who shares the files with collective calls of the current phase.
  std::optional<std::pair<schema::Sharing, std::int64_t>> sharers_;
  /// In the current phase a step came at which a rank may reach a limit.
  bool at_work_ = false;
  /// Of the group whose program it is.
  std::int64_t ranks_ = 0;
};

void check_absolute(const std::string& path, const char* where) {
  if (path.front() != '/') throw plan_error(where, "must be an absolute path");
  if (path.find('\0') != std::string::npos) throw plan_error(where, "contains a zero byte");
}

/// Refuses what is known without rendering; the rest is refused where the path is rendered.
void check_path(const schema::File& file, const std::string& where) {
  std::string known;
  for (const schema::PathPart& part : file.path) {
    known += part.text;
    if (part.value) {
      known += '0';  // some digits
      break;
    }
  }
  if (!file.foreign && pattern::is_reserved(known)) {
    throw plan_error(where + ".path", "is a name of the engine's own book-keeping: " + known);
  }
}

void check_append(const schema::File& file, const backend::Entry& entry, const std::string& where) {
  if (!file.append) return;
  if (!backend::can(entry, backend::kAppend)) {
    throw plan_error(
        where + ".append",
        fmt::format("{} cannot do this: {}", to_string(file.interface), backend::kAppend),
        "`venturi-engine describe` lists what each interface can do");
  }
  if (file.content.verify && file.sharing != schema::Sharing::kRank) {
    throw plan_error(where + ".content.verify",
                     "nobody knows where in a shared file an append ends up");
  }
}

void check_stripe(const schema::File& file, const backend::Entry& entry, const std::string& where) {
  if (!file.stripe) return;
  constexpr std::int64_t kUnitBytes = 65'536;
  if (!backend::can(entry, backend::kStripes)) {
    throw plan_error(where + ".stripe", fmt::format("{} makes no files that could be striped",
                                                    to_string(file.interface)));
  }
  if (file.foreign) throw plan_error(where + ".stripe", "a foreign file is only ever read");
  if (file.stripe->count == 0 && file.stripe->bytes == 0) {
    throw plan_error(where + ".stripe", "says neither how many nor how long");
  }
  if (file.stripe->bytes % kUnitBytes != 0) {
    throw plan_error(where + ".stripe.bytes", "must be a multiple of 64 KiB");
  }
}

void check_names_of(const std::vector<schema::NamePart>& parts, const std::string& where,
                    const Checker& checker) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const schema::NamePart& part = parts[i];
    if (part.value) checker.expression(*part.value, fmt::format("{}[{}].value", where, i));
  }
}

void check_tree_of(const schema::Tree& tree, const std::string& where, const Checker& checker) {
  check_tree(tree, where);
  check_names_of(tree.item_name, where + ".item_name", checker);
  check_names_of(tree.directory_name, where + ".directory_name", checker);
  for (std::size_t i = 0; i < tree.sizes.size(); ++i) {
    checker.expression(tree.sizes[i].bytes, fmt::format("{}.sizes[{}].bytes", where, i));
  }
  pattern::tree_nodes(tree.depth, tree.branch);
}

void check_file(const schema::Plan& plan, std::size_t index, const Checker& checker) {
  const schema::File& file = plan.files[index];
  const std::string where = fmt::format("files[{}]", index);
  const backend::Row& row = backend::row_of(file.interface);
  if (row.entry == nullptr) {
    throw plan_error(where + ".interface",
                     fmt::format("{} is not built: {}", to_string(file.interface), row.reason),
                     "`venturi-engine describe` lists what is built");
  }
  backend::check_options(*row.entry, file.options, where);
  if (!file.hints.empty() && !backend::can(*row.entry, backend::kHints)) {
    throw plan_error(where + ".hints", fmt::format("{} takes no hints", to_string(file.interface)),
                     "hints are MPI-IO's; others have options");
  }
  check_path(file, where);
  for (std::size_t i = 0; i < file.path.size(); ++i) {
    const schema::PathPart& part = file.path[i];
    if (part.value) checker.expression(*part.value, fmt::format("{}.path[{}].value", where, i));
  }
  if (file.tree) {
    checker.expression(file.tree->items, where + ".tree.items");
    checker.expression(file.tree->size, where + ".tree.size");
    check_tree_of(*file.tree, where + ".tree", checker);
  }
  if (file.prestage) checker.expression(*file.prestage, where + ".prestage");
  check_staged_loops(file, plan, where);
  check_append(file, *row.entry, where);
  check_stripe(file, *row.entry, where);
  const bool is_plain = !file.tree && backend::can(*row.entry, backend::kBytes) &&
                        !backend::can(*row.entry, backend::kDatasets);
  if (file.foreign && file.content.verify && !is_plain) {
    throw plan_error(where + ".content.verify",
                     "the stamps of a foreign file are looked for where it begins, and this one "
                     "does not begin with what a run wrote");
  }
  if (file.prestage && !file.tree && backend::moves_together(file) && !backend::takes_bytes(file)) {
    throw plan_error(where + ".prestage",
                     "one rank writes for all here, and what is staged are bytes, not datasets",
                     "leave out 'datasets', or write the file in a phase before");
  }
  if (file.foreign && file.prestage) {
    throw plan_error(where + ".prestage", "a foreign file is only ever read");
  }
  const bool simulated = backend::can(*row.entry, backend::kSimulatedClock);
  if (simulated != (plan.clock == schema::ClockKind::kSimulated)) {
    throw plan_error(where + ".interface",
                     simulated ? "simulated storage needs the simulated clock"
                               : "under a simulated clock all storage must be simulated");
  }
}

void check_names(const schema::Plan& plan) {
  for (std::size_t i = 0; i < schema::kSlotWords.size(); ++i) {
    if (plan.slots[i] != schema::kSlotWords[i]) {
      throw plan_error(fmt::format("slots[{}]", i),
                       fmt::format("must be {}", schema::kSlotWords[i]));
    }
  }
  check_absolute(plan.directory, "directory");
  check_absolute(plan.journal, "journal");
}

}  // namespace

void check(const schema::Plan& plan) {
  check_names(plan);
  Checker checker(plan);
  for (std::size_t i = 0; i < plan.files.size(); ++i) check_file(plan, i, checker);
  check_ranks(plan);
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    checker.check_program(plan.groups[i], fmt::format("groups[{}]", i));
  }
}

}  // namespace venturi::execute

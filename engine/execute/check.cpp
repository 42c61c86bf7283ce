// The rules that a plan must obey beyond its schema.
#include "execute/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <type_traits>
#include <variant>

#include "backend/table.hpp"
#include "base/error.hpp"
#include "execute/program.hpp"
#include "execute/step.hpp"
#include "pattern/expression.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {
namespace {

using base::plan_error;
using schema::NameVerb;

/// Walks the program once, with the path of each step.
class Checker {
 public:
  explicit Checker(const schema::Plan& plan) : plan_(plan) {}

  void check_program(const schema::Group& group) { steps(group.program, "groups[0].program", {}); }

  void expression(const schema::Expression& code, const std::string& where) const {
    pattern::validate(code, plan_.slots.size(), where);
  }

 private:
  /// What surrounds a step.
  struct Around {
    bool limited = false;
    /// Not all ranks come here equally often.
    bool uneven = false;
    std::set<std::int64_t> loops;
  };

  template <class Kind>
  static constexpr bool kMayPrecedeCreate =
      std::is_same_v<Kind, schema::Manage> || std::is_same_v<Kind, schema::Phase>;

  void steps(const std::vector<schema::Step>& body, const std::string& where,
             const Around& around) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      const std::string place = fmt::format("{}[{}]", where, i);
      std::visit(
          [&](const auto& step) {
            if (!kMayPrecedeCreate<std::decay_t<decltype(step)>>) at_work_ = true;
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
                                    static_cast<std::size_t>(schema::Slot::kNode)};
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
    const auto first = static_cast<std::int64_t>(schema::kSlotWords.size());
    if (step.variable < first || static_cast<std::size_t>(step.variable) >= plan_.slots.size()) {
      throw plan_error(where + ".variable", "is not the slot of a loop variable");
    }
    Around inside = around;
    if (!inside.loops.insert(step.variable).second) {
      throw plan_error(where + ".variable", "an enclosing loop has the same variable");
    }
    inside.uneven |= differs(step.count);
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
    at_work_ = false;
    steps(step.body, where + ".body", inside);
  }

  void one(const schema::Barrier&, const std::string& where, const Around& around) {
    wait(where, around);
  }

  void one(const schema::Compute& step, const std::string& where, const Around&) {
    expression(step.seconds, where + ".seconds");
  }

  void one(const schema::Transfer& step, const std::string& where, const Around&) {
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
    const auto& random = std::get<schema::Random>(pattern.value);
    expression(random.base, where + ".base");
    expression(random.slots, where + ".slots");
    expression(random.count, where + ".count");
    expression(random.first, where + ".first");
    expression(random.step, where + ".step");
  }

  void one(const schema::Manage& step, const std::string& where, const Around& around) {
    const schema::File& target = file(step.file, where);
    expression(step.owner, where + ".owner");
    const bool reads = step.verb == NameVerb::kOpen || step.verb == NameVerb::kClose ||
                       step.verb == NameVerb::kStat;
    if (target.foreign && !reads) {
      throw plan_error(where + ".verb", "a foreign file is only ever read");
    }
    const bool whole_tree = step.verb == NameVerb::kStat || step.verb == NameVerb::kMkdir ||
                            step.verb == NameVerb::kRmdir;
    if (target.tree && !whole_tree) {
      throw plan_error(where + ".verb", "is done to items of a tree, not to the tree");
    }
    // Before anybody can have reached the limit, a shared file may be made.
    Around waiting = around;
    waiting.limited = around.limited && (at_work_ || step.verb != NameVerb::kCreate);
    if (manage_waits(target, step.verb)) wait(where, waiting);
    if (step.verb == NameVerb::kCreate || step.verb == NameVerb::kOpen) opened_.insert(step.file);
  }

  void one(const schema::Items& step, const std::string& where, const Around&) {
    using enum schema::ItemVerb;
    const schema::File& target = file(step.file, where);
    expression(step.owner, where + ".owner");
    if (!target.tree) throw plan_error(where + ".file", "is not a tree");
    if (target.foreign) throw plan_error(where + ".file", "a foreign tree is not supported");
    bool open = false;
    for (std::size_t i = 0; i < step.verbs.size(); ++i) {
      const schema::ItemVerb verb = step.verbs[i];
      const bool opens = verb == kCreate || verb == kOpen;
      const bool needs = verb == kWrite || verb == kRead || verb == kSync || verb == kClose;
      if ((needs && !open) || (opens && open)) {
        throw plan_error(fmt::format("{}.verbs[{}]", where, i),
                         open ? "the item is open already" : "the item is not open here");
      }
      open = verb != kClose && (open || opens);
    }
  }

  void one(const schema::Sync& step, const std::string& where, const Around&) {
    if (file(step.file, where).tree) {
      throw plan_error(where + ".file", "items of a tree are synced item by item");
    }
  }

  const schema::Plan& plan_;
  std::set<std::int64_t> opened_;
  /// In the current phase a step came at which a rank may reach a limit.
  bool at_work_ = false;
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
  check_path(file, where);
  for (std::size_t i = 0; i < file.path.size(); ++i) {
    const schema::PathPart& part = file.path[i];
    if (part.value) checker.expression(*part.value, fmt::format("{}.path[{}].value", where, i));
  }
  if (file.tree) {
    checker.expression(file.tree->items, where + ".tree.items");
    checker.expression(file.tree->size, where + ".tree.size");
    pattern::tree_nodes(file.tree->depth, file.tree->branch);
  }
  if (file.prestage) checker.expression(*file.prestage, where + ".prestage");
  if (file.foreign && file.content.verify) {
    throw plan_error(where + ".content.verify", "nobody knows what a foreign file should contain");
  }
  if (file.foreign && file.prestage) {
    throw plan_error(where + ".prestage", "a foreign file is only ever read");
  }
  const bool simulated = file.interface == schema::Interface::kSimulated;
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
  if (plan.groups.size() > 1) {
    throw plan_error("groups", "several groups at once are not supported yet");
  }
  const schema::Group& group = plan.groups.front();
  if (group.first != 0) throw plan_error("groups[0].first", "the only group begins at rank 0");
  if (group.ranks != plan.ranks) {
    throw plan_error("groups[0].ranks",
                     fmt::format("the only group must have all {} ranks", plan.ranks));
  }
  checker.check_program(group);
}

}  // namespace venturi::execute

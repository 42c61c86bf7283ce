// What can be known of a program before it runs: which files it touches, and how.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <type_traits>
#include <variant>

#include "backend/table.hpp"
#include "execute/program.hpp"
#include "payload/halo.hpp"

namespace venturi::execute {
namespace {

/// Calls a function with every step, those inside of others, too.
template <class Look>
void for_each(const std::vector<schema::Step>& steps, const Look& look) {
  const auto enter = [&](const auto& step) {
    look(step);
    if constexpr (requires { step.body; }) for_each(step.body, look);
  };
  for (const schema::Step& step : steps) std::visit(enter, step.value);
}

/// The files of the leaves of some kinds.
template <class... Kinds, class Predicate>
std::vector<std::size_t> files_where(const std::vector<schema::Step>& steps,
                                     const Predicate& wanted) {
  std::set<std::size_t> found;
  const auto note = [&](const auto& leaf) {
    if (wanted(leaf)) found.insert(static_cast<std::size_t>(leaf.file));
  };
  for_each(steps, [&](const auto& leaf) {
    if constexpr ((std::is_same_v<std::decay_t<decltype(leaf)>, Kinds> || ...)) note(leaf);
  });
  return {found.begin(), found.end()};
}

constexpr bool is_removal(schema::ItemVerb verb) noexcept {
  return verb == schema::ItemVerb::kUnlink || verb == schema::ItemVerb::kRmdir;
}

constexpr auto kAny = [](const auto&) { return true; };

}  // namespace

bool has_waits(const std::vector<schema::Step>& steps) {
  bool found = false;
  for_each(steps, [&](const auto& leaf) {
    found |= std::is_same_v<std::decay_t<decltype(leaf)>, schema::Wait>;
  });
  return found;
}

void reserve_arrays(Context& context, const std::vector<schema::Step>& steps) {
  for_each(steps, [&](const auto& leaf) {
    using Kind = std::decay_t<decltype(leaf)>;
    if constexpr (std::is_same_v<Kind, schema::For>) {
      if (leaf.columns.empty()) return;
      context.columns_of(leaf.columns, static_cast<std::uint64_t>(leaf.rows));
    } else if constexpr (std::is_same_v<Kind, schema::Transfer>) {
      if (!leaf.halo) return;
      const payload::HaloCursor array(*leaf.halo, context.evaluator, context.slots);
      context.cells(context.plan.files[static_cast<std::size_t>(leaf.file)], array.array_bytes());
    }
  });
}

bool is_together(const schema::Plan& plan, const schema::Transfer& step) {
  return step.collective ||
         backend::moves_together(plan.files[static_cast<std::size_t>(step.file)]);
}

void refuse_some(const schema::File& file, const schema::Transfer& step) {
  if (step.collective || file.sharing == schema::Sharing::kRank) return;
  const backend::Description& about = backend::description_of(file.interface);
  const bool mpi_helps = !about.needs_mpi && *about.shared_through != '\0';
  throw base::plan_error(
      fmt::format("files.{}", file.name),
      fmt::format("{}{} moves data of a shared file with all its ranks at once, and here only some "
                  "of them would",
                  to_string(file.interface), mpi_helps ? " without MPI" : ""),
      fmt::format(
          "{}give these ranks files of their own ('shared: rank'), or use another interface",
          mpi_helps ? "run it with --on openmpi or --on mpich, " : ""));
}

bool meets_first(const schema::Plan& plan, const schema::Transfer& step) {
  return backend::shows_places(plan.files[static_cast<std::size_t>(step.file)]);
}

bool has_collective(const schema::Plan& plan, const std::vector<schema::Step>& steps) {
  bool found = false;
  for_each(steps, [&](const auto& leaf) {
    if constexpr (std::is_same_v<std::decay_t<decltype(leaf)>, schema::Transfer>) {
      found |= is_together(plan, leaf);
    }
  });
  return found;
}

std::vector<std::size_t> data_files(const std::vector<schema::Step>& steps) {
  return files_where<schema::Transfer, schema::Items>(steps, kAny);
}

std::vector<std::size_t> used_files(const std::vector<schema::Step>& steps) {
  return files_where<schema::Transfer, schema::Items, schema::Manage, schema::Sync>(steps, kAny);
}

std::vector<std::size_t> made_directories(const std::vector<schema::Step>& steps) {
  return files_where<schema::Manage>(
      steps, [](const schema::Manage& leaf) { return leaf.verb == schema::NameVerb::kMkdir; });
}

std::vector<std::size_t> removed_files(const std::vector<schema::Step>& steps) {
  return files_where<schema::Manage, schema::Items>(steps, [](const auto& leaf) {
    if constexpr (std::is_same_v<std::decay_t<decltype(leaf)>, schema::Manage>) {
      return leaf.verb == schema::NameVerb::kUnlink;
    } else {
      return std::any_of(leaf.verbs.begin(), leaf.verbs.end(), is_removal);
    }
  });
}

bool removes_others(const std::vector<schema::Step>& steps) {
  bool found = false;
  for_each(steps, [&](const auto& leaf) {
    if constexpr (std::is_same_v<std::decay_t<decltype(leaf)>, schema::Items>) {
      constexpr auto kRank = static_cast<std::int64_t>(schema::Slot::kRank);
      const bool is_own = leaf.owner.size() == 1 && leaf.owner[0].integer == kRank &&
                          leaf.owner[0].operator_ == schema::Operator::kVariable;
      found |= !is_own && std::any_of(leaf.verbs.begin(), leaf.verbs.end(), is_removal);
    }
  });
  return found;
}

std::vector<std::size_t> linked_files(const std::vector<schema::Step>& steps) {
  return files_where<schema::Items>(steps, [](const schema::Items& leaf) {
    return std::any_of(leaf.verbs.begin(), leaf.verbs.end(), [](schema::ItemVerb verb) {
      return verb == schema::ItemVerb::kLink || verb == schema::ItemVerb::kSymlink;
    });
  });
}

std::vector<std::size_t> moving_windows(const std::vector<schema::Step>& steps) {
  return files_where<schema::Items>(steps, [](const schema::Items& leaf) {
    return leaf.counted_from != schema::CountedFrom::kStart;
  });
}

bool drops_caches(const std::vector<schema::Step>& steps) {
  bool found = false;
  for_each(steps, [&](const auto& leaf) {
    if constexpr (std::is_same_v<std::decay_t<decltype(leaf)>, schema::Phase>) {
      found |= leaf.cache == schema::CachePolicy::kDrop;
    }
  });
  return found;
}

}  // namespace venturi::execute

// The step that walks: where, for what, and the loop over all ranks' pieces.
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/beneath.hpp"
#include "execute/step.hpp"
#include "execute/tree_walk.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {
namespace {

/// The directory, absolute. Throws base::Error (exit 2) if the path is unsafe.
std::string top_of(const RankView& view, const schema::Find& step) {
  std::string path;
  pattern::render_path(step.top, view.slots, path);
  if (step.foreign) return path;
  if (path.empty()) return view.plan.directory;
  if (const char* fault = pattern::path_fault(path)) {
    throw base::plan_error("find.in", fmt::format("{}: {}", fault, path));
  }
  return fmt::format("{}/{}", view.plan.directory, path);
}

/// When a file of the plan was last changed. Throws base::Error if that cannot be seen.
timespec changed(const RankView& view, const schema::File& file) {
  const std::string path = view.path_of(file);
  const auto unseen = [&] {
    return base::target_error(
        path, fmt::format("find compares with its time, but: {}", std::strerror(errno)));
  };
  const base::Descriptor root(
      ::open(view.plan.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) throw unseen();
  const base::Place place(root.get(), path.c_str());
  struct stat status{};
  if (place.error() != 0 ||
      ::fstatat(place.directory(), place.name(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    throw unseen();
  }
  return status.st_ctim;
}

FindCriteria criteria_of(Context& context, const schema::Find& step) {
  FindCriteria criteria{.name = step.name, .bytes = std::nullopt, .after = std::nullopt};
  if (step.bytes)
    criteria.bytes = context.evaluator.count(*step.bytes, context.slots, "find.bytes");
  if (step.newer) {
    criteria.after = changed(context, context.plan.files[static_cast<std::size_t>(*step.newer)]);
  }
  return criteria;
}

}  // namespace

void run_find(Context& context, const schema::Find& step) {
  // The world's ranks may be many groups; those of one walk are the group.
  WorkStealingQueue queue(context.group);
  std::optional<TreeWalk> walk;
  context.guard([&] {
    if (context.idle()) return;
    walk.emplace(context, queue, top_of(context, step), criteria_of(context, step), !step.foreign);
    context.meter().add_found(0);
    if (context.group.rank() == 0) queue.put(TreeWalk::first_piece());
  });
  while (const auto piece = queue.take()) {
    context.guard([&] {
      if (walk && !context.failed()) walk->look(*piece);
    });
  }
}

}  // namespace venturi::execute

// The step that measures the machine itself: what a kernel needs of a run, and where its result
// goes.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/beneath.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "execute/program.hpp"
#include "execute/step.hpp"
#include "kernel/table.hpp"

namespace venturi::execute {
namespace {

/// A kernel failed on some rank, and so it ends on all. The run goes on: what comes after it is
/// measured, and this kernel has no number.
class KernelFailed : public std::exception {
 public:
  explicit KernelFailed(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// What a rank says of its failure; empty: there was none.
using Words = std::array<char, 512>;

std::string text_of(const base::Problem& problem) {
  return problem.hint.empty() ? problem.message : problem.message + "; " + problem.hint;
}

/// The failure of an action, which other ranks do not know yet.
std::optional<std::string> failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::Broken&) {
    throw;
  } catch (const base::Error& error) {
    return text_of(error.problem());
  } catch (const std::bad_alloc&) {
    return "there is not enough memory for it";
  }
  return std::nullopt;
}

/// Throws KernelFailed on all ranks, with the words of the first that failed. Collective.
void agree_on_failure(comm::Group& group, const std::optional<std::string>& mine) {
  const std::uint64_t first = group.minimum(mine ? group.rank() : group.size());
  if (first == group.size()) return;
  Words words{};
  if (mine) std::copy_n(mine->data(), std::min(mine->size(), words.size() - 1), words.begin());
  const std::vector<Words> all = group.gather(words);
  if (group.rank() == 0) words = all[first];
  group.broadcast(words);
  throw KernelFailed(words.data());
}

/// A new file of this rank in the run's directory, listed before it is made.
base::Descriptor make_file(Context& context, const std::string& name) {
  const std::string path =
      fmt::format(".{}.{}.{}", name, context.world.rank(), context.next_mark());
  const base::Descriptor root(
      ::open(context.plan.directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  context.manifest->intend(path);
  base::Descriptor file(
      ::openat(root.get(), path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  base::Identity identity;
  const int error = file ? base::identify(file.get(), "", identity) : errno;
  if (error != 0) {
    if (!file) context.manifest->retract(path);
    throw base::target_error(context.plan.directory + "/" + path,
                             fmt::format("cannot make a file: {}", std::strerror(error)));
  }
  base::set_mark(file.get(), "", base::combine(context.next_mark(), coarse_time_ns()), identity);
  context.manifest->add({.kind = EntryKind::kFile, .identity = identity, .path = path});
  return file;
}

}  // namespace

void run_kernel(Context& context, const schema::Kernel& step) {
  if (context.phases.empty()) {
    throw base::plan_error("kernel", "a kernel stands in a phase, whose row has its samples");
  }
  if (context.all_know_of_failure()) return;
  context.agree_or_throw();
  const kernel::Row& row = *kernel::find(step.name);
  const kernel::Settings settings(*row.description, step.options);
  const kernel::Environment environment{
      context.group,
      context.clock,
      static_cast<std::uint64_t>(context.plan.seed),
      settings,
      [&] {
        context.beat();
        context.tick(context.clock.now_ns());
      },
      [&](const std::function<void()>& action) {
        agree_on_failure(context.group, failure_of(action));
        context.agree_or_throw();
      },
      [&](const std::string& name) { return make_file(context, name); },
  };
  schema::KernelResult result;
  result.name = row.name;
  result.version = row.description->version;
  result.ranks = static_cast<std::int64_t>(context.group.size());
  try {
    row.entry->run(environment, result);
  } catch (const KernelFailed& failed) {
    result.failure = failed.what();
    result.series.clear();
  }
  result.facts.push_back({"compiler", __VERSION__});
  if (context.group.rank() == 0) context.phases.back().kernels.push_back(std::move(result));
}

}  // namespace venturi::execute

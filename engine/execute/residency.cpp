// Walks the program of a phase without running it, to see which files it reads.
#include "execute/residency.hpp"

#include <fcntl.h>

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "base/beneath.hpp"
#include "execute/program.hpp"

namespace venturi::execute {
namespace {

/// More files than this are not looked at one by one.
constexpr std::uint64_t kMostFiles = 1024;

class ResidencyInterpreter {
 public:
  explicit ResidencyInterpreter(Context& context) : context_(context) {}

  void steps(const std::vector<schema::Step>& all) {
    for (const schema::Step& one : all) step(one);
  }

  void step(const schema::Step& one) {
    if (const auto* loop = std::get_if<schema::For>(&one.value)) turns(*loop);
    if (const auto* phase = std::get_if<schema::Phase>(&one.value)) steps(phase->body);
    if (const auto* repeat = std::get_if<schema::Repeat>(&one.value)) steps(repeat->body);
    if (const auto* leaf = std::get_if<schema::Transfer>(&one.value)) transfer(*leaf);
    if (const auto* choice = std::get_if<schema::Choose>(&one.value)) {
      step(chosen_step(context_, *choice));
    }
    const auto* when = std::get_if<schema::When>(&one.value);
    if (when == nullptr) return;
    if (!context_.evaluator.value(when->condition, context_.slots, "when").is_zero()) {
      steps(when->body);
    }
  }
  /// Paths that are read, and those that are written.
  [[nodiscard]] const std::set<std::string>& read() const noexcept { return read_; }
  [[nodiscard]] const std::set<std::string>& written() const noexcept { return written_; }

 private:
  void turns(const schema::For& loop) {
    const auto slot = static_cast<std::size_t>(loop.variable);
    const auto [first, count, columns] = context_.turns_of(loop);
    // Of the rows of a table, each may be about another file.
    const std::uint64_t most = loop.columns.empty() ? kMostFiles : count;
    for (std::uint64_t i = first; i < first + std::min(count, most); ++i) {
      context_.slots[slot] = static_cast<std::int64_t>(i);
      columns.set(context_.slots, i);
      steps(loop.body);
    }
    context_.slots[slot] = std::int64_t{0};
    columns.reset(context_.slots);
  }

  void transfer(const schema::Transfer& leaf) {
    const FileState& file = context_.files[static_cast<std::size_t>(leaf.file)];
    const bool reads = leaf.operation == schema::Direction::kRead;
    std::set<std::string>& paths = reads ? read_ : written_;
    const backend::Traits traits = file.storage->traits();
    if (paths.size() >= kMostFiles || !traits.real_files || traits.is_keyed) return;
    const ActAs acting(context_, context_.owner_of(leaf.owner));
    const std::string& path = context_.current_path(static_cast<std::size_t>(leaf.file));
    std::string& last = reads ? last_read_ : last_written_;
    if (path == last) return;
    last = path;
    if (path.starts_with('/')) {
      paths.insert(path);
      return;
    }
    for (const std::string& part : file.plain->parts(path)) {
      paths.insert(context_.plan.directory + "/" + part);
    }
  }

  Context& context_;
  std::set<std::string> read_;
  std::set<std::string> written_;
  /// The names that were met last: most steps move data of the same file as the one before.
  std::string last_read_;
  std::string last_written_;
};

}  // namespace

ToRead files_to_read(Context& context, const std::vector<schema::Step>& steps) {
  ToRead found;
  ResidencyInterpreter walk(context);
  const pattern::Slots before = context.slots;
  try {
    walk.steps(steps);
  } catch (const base::Broken&) {
    throw;
  } catch (const base::Error&) {
    // What is wrong with the plan will be said where the step is run.
    context.slots = before;
    return {};
  }
  for (const std::string& path : walk.read()) {
    if (walk.written().contains(path)) {
      found.own = true;
      continue;
    }
    const base::Descriptor file(
        ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file) count_pages(file.get(), found.pages);
    context.tick(context.clock.now_ns());
  }
  return found;
}

}  // namespace venturi::execute

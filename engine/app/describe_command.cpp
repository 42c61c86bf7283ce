// `venturi-engine describe`: what this build can do, for people and for `venturi doctor`.
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/event_output.hpp"
#include "app/json_text.hpp"
#include "backend/table.hpp"
#include "base/clock.hpp"
#include "base/version.hpp"
#include "comm/launch.hpp"

namespace venturi::app {
namespace {

template <class Items, class Function>
std::string list(const Items& items, const Function& text_of) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ", ") + text_of(item);
  return "[" + out + "]";
}

std::string option_text(const backend::OptionInfo& option) {
  return fmt::format(R"({{"name": {}, "type": {}, "default": {}, "about": {}, "range": {}}})",
                     quote(option.name), quote(option.type), quote(option.default_value),
                     quote(option.about), quote(option.range));
}

std::string row_text(const backend::Row& listed) {
  const backend::Row& row = backend::row_of(listed.interface);
  const bool built = row.entry != nullptr;
  const auto capability = [](const char* name) { return quote(name); };
  return fmt::format(
      R"({{"name": {}, "built": {}, "reason": {}, "library": {}, "capabilities": {}, )"
      R"("options": {}}})",
      quote(to_string(row.interface)), built, quote(row.reason),
      built && row.entry->library != nullptr ? quote(row.entry->library()) : "null",
      built ? list(row.entry->capabilities, capability) : "[]",
      built ? list(row.entry->options, option_text) : "[]");
}

}  // namespace

int describe_command() {
  const base::Clock clock = base::Clock::real();
  const comm::LaunchFacts facts = comm::launch_facts();
  const std::string text = fmt::format(
      R"({{"schema": "venturi.engine/1", "version": {}, "comm": {}, "mpi": {}, "backends": {}, )"
      R"("clock": {{"source": {}, "resolution_ns": {:.1f}, "overhead_ns": {:.1f}}}}})",
      quote(base::kVersion), quote(facts.comm),
      facts.library.empty() ? "null" : quote(facts.library), list(backend::table(), row_text),
      quote(clock.source_name()), clock.resolution_ns(), clock.overhead_ns());
  write_text(text + "\n");
  return 0;
}

}  // namespace venturi::app

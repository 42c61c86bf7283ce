// `venturi-engine describe`: what this build can do, for people and for `venturi doctor`.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "app/command.hpp"
#include "app/event_output.hpp"
#include "app/json_text.hpp"
#include "backend/table.hpp"
#include "base/clock.hpp"
#include "base/version.hpp"
#include "comm/launch.hpp"
#include "kernel/table.hpp"

namespace venturi::app {
namespace {

template <class Items, class Function>
std::string list(const Items& items, const Function& text_of) {
  std::string out;
  for (auto& item : items) out += (out.empty() ? "" : ", ") + text_of(item);
  return "[" + out + "]";
}

/// Its bounds, where it is a number; `most` is null where there is none.
std::string bounds_text(const backend::OptionInfo& option) {
  const std::string_view type = option.type;
  if (type != "real" && type != "integer" && type != "bytes") return "";
  const bool is_open = option.most == std::numeric_limits<double>::max();
  return fmt::format(R"(, "least": {}, "most": {})", option.least,
                     is_open ? "null" : fmt::to_string(option.most));
}

std::string option_text(const backend::OptionInfo& option) {
  return fmt::format(R"({{"name": {}, "type": {}, "default": {}, "about": {}, "range": {}{}}})",
                     quote(option.name), quote(option.type), quote(option.default_value),
                     quote(option.about), quote(option.range), bounds_text(option));
}

std::string words(const std::vector<const char*>& items) {
  return list(items, [](const char* item) { return quote(item); });
}

std::string calls_text(const backend::Calls& calls) {
  return fmt::format(
      R"({{"write": {}, "read": {}, "both": {}, "sync": {}, "flush": {}, "collective": {}, )"
      R"("independent": {}, "larger": {}}})",
      quote(calls.write), quote(calls.read), quote(calls.both), quote(calls.sync),
      quote(calls.flush), quote(calls.collective), quote(calls.independent), quote(calls.larger));
}

std::string format_text(const backend::FormatLimits& format) {
  return fmt::format(
      R"({{"shapes": {}, "chunks": {}, "chunks_with": {}, "narrow_with": {}, "wide_with": {}, )"
      R"("read_while_open": {}, "read_after_sync": {}}})",
      format.shapes, format.chunks, quote(format.chunks_with), quote(format.narrow_with),
      quote(format.wide_with), format.read_while_open, format.read_after_sync);
}

std::string names_text(const backend::OtherNames& names) {
  return fmt::format(R"({{"ior": {}, "mdtest": {}, "trace_layers": {}}})", quote(names.ior),
                     quote(names.mdtest), words(names.trace_layers));
}

/// What an interface is, in every build of this version the same.
std::string description_text(const backend::Description& about) {
  return fmt::format(
      R"({{"level": {}, "data_path": {}, "name_space": {}, "ownership": {}, "addressing": {}, )"
      R"("capabilities": {}, "mpi_capabilities": {}, "options": {}, "mpi_options": {}, )"
      R"("needs_mpi": {}, "buffers": {}, "gathers": {}, "shared_through": {}, "splits": {}, )"
      R"("files_per_writer": {}, "label": {}, "container": {}, "pieces": {}, "format": {}, )"
      R"("calls": {}, "elsewhere": {}}})",
      quote(about.level), quote(about.data_path), quote(about.name_space), quote(about.ownership),
      quote(about.addressing), words(about.capabilities), words(about.mpi_capabilities),
      list(about.options, option_text), list(about.mpi_options, option_text), about.needs_mpi,
      about.buffers, about.gathers, quote(about.shared_through), quote(about.splits),
      about.files_per_writer, quote(about.label), quote(about.container), quote(about.pieces),
      format_text(about.format), calls_text(about.calls), names_text(about.elsewhere));
}

std::string row_text(backend::Row& listed) {
  const backend::Row& row = backend::loaded(listed);
  const bool built = row.entry != nullptr;
  return fmt::format(
      R"({{"name": {}, "built": {}, "reason": {}, "library": {}, "capabilities": {}, )"
      R"("options": {}, "description": {}}})",
      quote(row.name), built, quote(row.reason),
      built && row.entry->library != nullptr ? quote(row.entry->library()) : "null",
      built ? words(row.entry->capabilities) : "[]",
      built ? list(row.entry->options, option_text) : "[]", description_text(*row.description));
}

std::string figure_text(const kernel::Figure& figure) {
  return fmt::format(R"({{"name": {}, "unit": {}, "about": {}}})", quote(figure.name),
                     quote(figure.unit), quote(figure.about));
}

std::string kernel_text(const kernel::Row& row) {
  const kernel::Description& about = *row.description;
  return fmt::format(
      R"({{"name": {}, "built": {}, "reason": {}, "description": {{"about": {}, "likeness": {}, )"
      R"("version": {}, "needs_mpi": {}, "least_ranks": {}, "figures": {}, "options": {}}}}})",
      quote(row.name), row.entry != nullptr, quote(row.reason), quote(about.about),
      quote(about.likeness), about.version, about.needs_mpi, about.least_ranks,
      list(about.figures, figure_text), list(about.options, option_text));
}

}  // namespace

int describe_command() {
  const base::Clock clock = base::Clock::real();
  const comm::LaunchFacts facts = comm::launch_facts();
  const std::string text = fmt::format(
      R"({{"schema": "venturi.engine/1", "version": {}, "comm": {}, "mpi": {}, "backends": {}, )"
      R"("kernels": {}, "clock": {{"source": {}, "resolution_ns": {:.1f}, )"
      R"("overhead_ns": {:.1f}}}}})",
      quote(base::kVersion), quote(facts.comm),
      facts.library.empty() ? "null" : quote(facts.library), list(backend::table(), row_text),
      list(kernel::table(), kernel_text), quote(clock.source_name()), clock.resolution_ns(),
      clock.overhead_ns());
  write_text(text + "\n");
  return 0;
}

int describe_interfaces_command(const std::vector<std::string>& names) {
  std::vector<std::string> rows;
  for (backend::Row& row : backend::table()) {
    if (std::ranges::find(names, row.name) != names.end()) rows.push_back(row_text(row));
  }
  write_text(list(rows, [](const std::string& row) { return row; }) + "\n");
  return 0;
}

}  // namespace venturi::app

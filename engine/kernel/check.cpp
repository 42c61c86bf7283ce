// Looking up kernels and refusing steps that cannot run.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Row* find(const std::string& name) {
  const auto rows = table();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return name == row.name; });
  return found == rows.end() ? nullptr : &*found;
}

void check(const schema::Kernel& step, std::int64_t ranks, bool simulated,
           const std::string& where) {
  const Row* row = find(step.name);
  if (row == nullptr) {
    throw base::plan_error(where + ".name", fmt::format("there is no kernel {}", step.name),
                           "`venturi-engine describe` lists them");
  }
  if (row->entry == nullptr) {
    throw base::plan_error(where + ".name", fmt::format("{} {}", step.name, row->reason));
  }
  if (simulated) {
    throw base::plan_error(where, fmt::format("{} measures this machine, and under a simulated "
                                              "clock there is none",
                                              step.name));
  }
  if (ranks < row->description->least_ranks) {
    throw base::plan_error(where, fmt::format("{} needs at least {} ranks, not {}", step.name,
                                              row->description->least_ranks, ranks));
  }
  backend::check_options({row->description->options, {}, nullptr}, step.options, where);
}

base::Error wrong_value(const std::string& what) {
  return base::Error({.code = "kernel", .message = what, .exit_code = base::kExitFailed});
}

}  // namespace venturi::kernel

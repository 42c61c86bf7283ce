// `venturi-engine run`: a plan becomes a group of ranks that runs it.
#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

#include "app/command.hpp"
#include "app/event_output.hpp"
#include "base/clock.hpp"
#include "comm/launch.hpp"
#include "execute/check.hpp"
#include "execute/removal.hpp"
#include "execute/run.hpp"
#include "schema/plan.hpp"

namespace venturi::app {
namespace {

/// Signals are looked for between operations, and a closed stdout is an error, not a death.
void tame_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  // A file beyond the limit of sizes is an error of its write (EFBIG), not a death either.
  ::signal(SIGXFSZ, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

/// After a group broke: remove what it left, then say why.
void end_broken(const schema::Plan& plan, base::Problem problem) {
  try {
    execute::clean(plan.journal, plan.directory, execute::Kept::kStay);
  } catch (const std::exception& error) {
    problem.hint = fmt::format("files may be left in {}: {}", plan.directory, error.what());
  }
  write_failure(problem);
}

}  // namespace

std::string read_text(const std::string& name) {
  if (name == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    throw base::Error({.code = "plan",
                       .message = fmt::format("cannot read {}: {}", name, std::strerror(errno)),
                       .exit_code = base::kExitPlan});
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

int run_command(const std::string& name, bool forked) {
  tame_signals();
  const schema::Plan plan = schema::decode_plan(read_text(name));
  execute::check(plan);
  // Calibrated before the ranks are forked: those of one machine then share one clock.
  const base::Clock clock =
      plan.clock == schema::ClockKind::kSimulated ? base::Clock::simulated() : base::Clock::real();
  comm::Launch how;
  how.ranks = static_cast<std::size_t>(plan.ranks);
  how.forked = forked;
  how.body = [&](comm::Group& group) {
    return execute::run(plan, group, clock, [](const schema::Event& event) {
      if (const auto* failed = std::get_if<schema::Failed>(&event.value)) {
        write_failure({failed->code, failed->message, failed->hint, failed->where,
                       static_cast<int>(failed->exit_code)});
      } else {
        write_event(event);
      }
    });
  };
  how.on_broken = [&](const base::Problem& problem) { end_broken(plan, problem); };
  return comm::launch(how);
}

}  // namespace venturi::app

// The engine: reads a plan, does the I/O, and says what happened.
#include <fmt/format.h>
#include <time.h>

#include <exception>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/event_output.hpp"
#include "base/error.hpp"
#include "base/version.hpp"
#include "comm/launcher_environment.hpp"

namespace {

constexpr const char* kUsage =
    R"(usage: venturi-engine run [--forked] PLAN.json|-   run a plan; events as JSON lines on stdout
       venturi-engine describe [INTERFACE...]      what this build, or an interface, can do
       venturi-engine clean [--kept] JOURNAL       remove what a dead run left, as JSON;
                                                   with --kept also what its plan keeps
       venturi-engine probe RING                   measure in the background till SIGTERM
       venturi-engine probe --remove RING          remove what that made, as JSON
       venturi-engine probe --simulate RING N...   the same schedule on a simulated storage
       venturi-engine evaluate                     evaluate expressions, one JSON line each
       venturi-engine --version | --help

exit codes: 0 fine, 2 bad plan, 3 failed, 5 target refused, 130 interrupted
)";

int wrong_use() {
  fmt::print(stderr, "{}", kUsage);
  return venturi::base::kExitPlan;
}

int dispatch_probe(const std::vector<std::string>& arguments) {
  using namespace venturi;
  const std::size_t count = arguments.size();
  if (count == 1) return app::probe_command(arguments[0]);
  if (count == 2 && arguments[0] == "--remove") return app::probe_removal_command(arguments[1]);
  if (count > 2 && arguments[0] == "--simulate") {
    return app::probe_simulation_command(arguments[1], {arguments.begin() + 2, arguments.end()});
  }
  return wrong_use();
}

int dispatch(std::vector<std::string> arguments) {
  using namespace venturi;
  const std::string command = arguments.empty() ? "" : arguments.front();
  const bool forked = arguments.size() > 1 && arguments[1] == "--forked";
  if (forked) arguments.erase(arguments.begin() + 1);
  const std::size_t count = arguments.size();
  if (command == "run" && count == 2) return app::run_command(arguments[1], forked);
  if (command == "describe" && count == 1) return app::describe_command();
  if (command == "describe") {
    return app::describe_interfaces_command({arguments.begin() + 1, arguments.end()});
  }
  if (command == "evaluate" && count == 1) return app::evaluate_command();
  if (command == "clean" && count == 2) return app::clean_command(arguments[1], false);
  if (command == "clean" && count == 3 && arguments[1] == "--kept") {
    return app::clean_command(arguments[2], true);
  }
  if (command == "probe") return dispatch_probe({arguments.begin() + 1, arguments.end()});
  if (command == "--version" && count == 1) {
    app::write_text(fmt::format("venturi-engine {}\n", base::kVersion));
    return 0;
  }
  if (command == "--help" && count == 1) {
    app::write_text(kUsage);
    return 0;
  }
  return wrong_use();
}

/// What is wrong before the ranks know each other is wrong on all of them: the first says it. The
/// others give it time, because a launcher ends all when one has ended.
void say_once(const venturi::base::Problem& problem) {
  const auto launcher = venturi::comm::detect_launcher();
  if (!launcher || launcher->rank == 0) return venturi::app::write_failure(problem);
  const timespec pause{.tv_sec = 1, .tv_nsec = 0};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch({argv + 1, argv + argc});
  } catch (const venturi::base::Error& error) {
    say_once(error.problem());
    return error.problem().exit_code;
  } catch (const std::exception& error) {
    venturi::app::write_failure({.code = "fault", .message = error.what(), .exit_code = 1});
    return 1;
  }
}

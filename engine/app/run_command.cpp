// `venturi-engine run`: a plan becomes a group of ranks that runs it.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>
#include <utility>

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

/// At its end, however that comes, what was not read yet goes out.
struct Finish {
  Finish() = default;
  Finish(const Finish&) = delete;
  Finish& operator=(const Finish&) = delete;
  ~Finish() { output_of().finish(); }
};

/// Removes what a broken group left; false if that is not done after half a minute. A process of
/// its own does it, because a storage that hangs would keep us for ever.
bool clean_in_time(const schema::Plan& plan) {
  const pid_t cleaner = ::fork();
  if (cleaner == 0) {
    try {
      execute::clean(plan.journal, plan, execute::Kept::kStay);
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  constexpr std::uint64_t kMostNs = 30'000'000'000;
  const std::uint64_t end = base::monotonic_ns() + kMostNs;
  while (cleaner > 0 && base::monotonic_ns() < end) {
    int status = 0;
    if (::waitpid(cleaner, &status, WNOHANG) == cleaner) return status == 0;
    const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
    ::nanosleep(&pause, nullptr);
  }
  if (cleaner > 0) ::kill(cleaner, SIGKILL);
  return false;
}

/// After a group broke: remove what it left, then say why.
void end_broken(const schema::Plan& plan, base::Problem problem) {
  if (!clean_in_time(plan)) {
    problem.hint += fmt::format("{}files may be left in {}; 'venturi-engine clean {}' removes them",
                                problem.hint.empty() ? "" : "; ", plan.directory, plan.journal);
  }
  write_failure(problem);
}

}  // namespace

std::string read_text(const std::string& name) {
  std::ostringstream text;
  if (name == "-") {
    text << std::cin.rdbuf();
    return std::move(text).str();
  }
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    throw base::Error({.code = "plan",
                       .message = fmt::format("cannot read {}: {}", name, std::strerror(errno)),
                       .exit_code = base::kExitPlan});
  }
  text << file.rdbuf();
  return std::move(text).str();
}

int run_command(const std::string& name, bool forked) {
  tame_signals();
  const base::Reading at_start = base::Reading::now();
  const schema::Plan plan = schema::decode_plan(read_text(name));
  execute::check(plan);
  output_of(plan.journal);
  base::Clock clock = base::Clock::simulated();
  comm::Launch how;
  how.on_started = [&] {
    if (plan.clock == schema::ClockKind::kReal) clock = base::Clock::real(at_start);
  };
  how.ranks = static_cast<std::size_t>(plan.ranks);
  how.forked = forked;
  how.body = [&](comm::Group& group) {
    EventOutput output(plan.journal, group.rank());
    const Finish finish;
    return execute::run(plan, group, clock, [&](const schema::Event& event) {
      if (const auto* failed = std::get_if<schema::Failed>(&event.value)) {
        write_failure({failed->code, failed->message, failed->hint, failed->where,
                       static_cast<int>(failed->exit_code)});
      } else {
        output(event);
      }
    });
  };
  how.stall_s = plan.stall_s;
  how.deadline_s = plan.deadline_s;
  how.on_notice = [](const comm::Notice& notice) {
    const schema::Event event = notice.is_warning
                                    ? schema::Event{comm::warning_of<schema::Warning>(notice)}
                                    : schema::Event{schema::Remark{notice.text}};
    output_of().write(schema::encode_event(event) + "\n");
  };
  how.on_broken = [&](const base::Problem& problem) { end_broken(plan, problem); };
  const Finish finish;
  return comm::launch(how);
}

}  // namespace venturi::app

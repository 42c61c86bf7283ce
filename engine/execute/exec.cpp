// The step that has a command run. The engine starts no process, because under MPI that may break
// the library and an application needs a launcher of its own: whoever started the engine does it.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "execute/program.hpp"
#include "execute/step.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {
namespace {

constexpr double kLookS = 0.002;
/// How much longer than the command may take the answer may be away.
constexpr double kGraceS = 120;

base::Error no_journal(const std::string& path) {
  return base::Error({.code = "fault",
                      .message = fmt::format("a command cannot be asked for in {}: {}", path,
                                             std::strerror(errno))});
}

/// A whole file or none: whoever waits for it sees no part of it.
void write_whole(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".part";
  {
    const base::Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file) throw no_journal(temporary);
    while (!text.empty()) {
      const ssize_t written = ::write(file.get(), text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw no_journal(temporary);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) throw no_journal(path);
}

/// Whether the answer is there; then `text` is what went wrong, empty if nothing did.
bool answered(const std::string& path, std::string& text) {
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t got = ::read(file.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

schema::CommandRequest wanted(Context& context, const schema::Exec& step) {
  schema::CommandRequest event;
  event.number = step.number;
  pattern::render_path(step.command, context.slots, context.evaluator, event.command);
  if (!context.phases.empty()) event.path = context.phases.back().plan->path;
  event.group = context.part.plan->name;
  event.instance = static_cast<std::int64_t>(context.part.instance);
  event.repetition = static_cast<std::int64_t>(context.repetition);
  event.iteration = iterations(context);
  event.limit_s = step.limit_s;
  return event;
}

void fail(RunControl& control, const std::string& phase, std::string message) {
  control.set_problem({.code = "command",
                       .message = std::move(message),
                       .where = phase,
                       .exit_code = base::kExitFailed});
}

void have_run(Context& context, const schema::Exec& step) {
  const schema::CommandRequest event = wanted(context, step);
  const std::string stem = fmt::format("{}/command.{}.{}", context.plan.journal,
                                       context.world.rank(), context.next_mark());
  const std::uint64_t begin = context.clock.now_ns();
  const std::uint64_t end =
      begin + static_cast<std::uint64_t>((step.limit_s + kGraceS) * base::kNsPerS);
  write_whole(stem + ".wanted", schema::encode_event({event}) + "\n");
  std::string wrong;
  while (!answered(stem + ".answer", wrong)) {
    context.pause(kLookS);
    if (context.clock.now_ns() > end) {
      return fail(context, event.path,
                  fmt::format("nobody answered for {:.0f} s that the command has ended",
                              step.limit_s + kGraceS));
    }
  }
  const std::uint64_t now = context.clock.now_ns();
  context.meter().record(schema::OperationKind::kExec, begin, now, 0);
  context.after_operations(now, 0, 1);
  if (!wrong.empty()) fail(context, event.path, std::move(wrong));
}

}  // namespace

void run_exec(Context& context, const schema::Exec& step) {
  context.guard([&] {
    if (context.group.rank() == 0 && !context.idle()) have_run(context, step);
  });
  context.wait();
}

}  // namespace venturi::execute

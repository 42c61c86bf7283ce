// Writing to stdout without buffers in between.
#include "app/event_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string_view>

namespace venturi::app {

bool write_text(const std::string& text) {
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void write_event(const schema::Event& event) {
  if (write_text(schema::encode_event(event) + "\n")) return;
  throw base::Broken(
      {.code = "fault", .message = "nobody reads the events any more, so the run was stopped"});
}

void write_failure(const base::Problem& problem) noexcept {
  try {
    std::string line = fmt::format("venturi-engine: {}", problem.message);
    if (!problem.where.empty()) line += fmt::format(" [{}]", problem.where);
    if (!problem.hint.empty()) line += fmt::format("; {}", problem.hint);
    fmt::print(stderr, "{}\n", line);
    write_text(schema::encode_event({schema::Failed{.code = problem.code,
                                                    .message = problem.message,
                                                    .hint = problem.hint,
                                                    .where = problem.where,
                                                    .exit_code = problem.exit_code}}) +
               "\n");
  } catch (const std::exception&) {
    // There is nobody left to tell; the exit code still says it.
    return;
  }
}

}  // namespace venturi::app

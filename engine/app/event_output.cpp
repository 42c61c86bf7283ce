// Writing to stdout without buffers in between.
#include "app/event_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

#include "base/descriptor.hpp"

namespace venturi::app {

namespace {

bool write_all(int descriptor, std::string_view left) {
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool write_text(const std::string& text) { return write_all(STDOUT_FILENO, text); }

EventOutput::EventOutput(const std::string& journal, std::size_t rank) {
  if (rank != 0) path_ = fmt::format("{}/events.{}.jsonl", journal, rank);
}

void EventOutput::operator()(const schema::Event& event) {
  const std::string line = schema::encode_event(event) + "\n";
  if (path_.empty()) {
    if (write_text(line)) return;
    throw base::Broken(
        {.code = "fault", .message = "nobody reads the events any more, so the run was stopped"});
  }
  const base::Descriptor file(
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file && write_all(file.get(), line)) return;
  throw base::Broken({.code = "fault",
                      .message = fmt::format("cannot write the events of a group to {}: {}", path_,
                                             std::strerror(errno))});
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

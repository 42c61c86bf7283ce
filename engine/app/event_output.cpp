// Writing to stdout without buffers in between.
#include "app/event_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

#include "base/clock.hpp"
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

bool PatientOutput::write(std::string_view text) {
  pending_ += text;
  if (!is_spilling_ && !push()) return false;
  return pending_.size() < kMostPendingBytes || spill();
}

bool PatientOutput::push() {
  while (done_bytes_ < pending_.size()) {
    pollfd reader{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&reader, 1, 0) <= 0) break;
    // A pipe that has room takes so much at once without waiting.
    const std::size_t bytes = std::min<std::size_t>(pending_.size() - done_bytes_, PIPE_BUF);
    const ssize_t written = ::write(STDOUT_FILENO, pending_.data() + done_bytes_, bytes);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (written <= 0) return false;
    done_bytes_ += static_cast<std::size_t>(written);
  }
  // The beginning of a line stays, in case that its end has to go elsewhere.
  const std::size_t line = done_bytes_ == 0 ? 0 : pending_.rfind('\n', done_bytes_ - 1) + 1;
  pending_.erase(0, line);
  done_bytes_ -= line;
  return true;
}

bool PatientOutput::spill() {
  if (journal_.empty())
    return write_all(STDOUT_FILENO, std::string_view(pending_).substr(done_bytes_));
  is_spilling_ = true;
  const std::string path = journal_ + "/events.0.jsonl";
  const base::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file || !write_all(file.get(), pending_)) return false;
  pending_.clear();
  done_bytes_ = 0;
  return true;
}

bool PatientOutput::finish() {
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
  const std::uint64_t end = base::monotonic_ns() + kPatienceNs;
  while (!is_spilling_ && !pending_.empty() && base::monotonic_ns() < end) {
    if (!push()) return false;
    if (!pending_.empty()) ::nanosleep(&kPause, nullptr);
  }
  return pending_.empty() || spill();
}

PatientOutput& output_of(const std::string& journal) {
  static PatientOutput output;
  if (!journal.empty()) output.set_journal(journal);
  return output;
}

EventOutput::EventOutput(const std::string& journal, std::size_t rank)
    : path_(fmt::format("{}/events.{}.jsonl", journal, rank)), has_stdout_(rank == 0) {}

void EventOutput::operator()(const schema::Event& event) {
  const std::string line = schema::encode_event(event) + "\n";
  if (has_stdout_ && line.size() <= kMostLineBytes) {
    if (output_of().write(line)) return;
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
    output_of().write(schema::encode_event({schema::Failed{.code = problem.code,
                                                           .message = problem.message,
                                                           .hint = problem.hint,
                                                           .where = problem.where,
                                                           .exit_code = problem.exit_code}}) +
                      "\n");
    output_of().finish();
  } catch (const std::exception&) {
    // There is nobody left to tell; the exit code still says it.
    return;
  }
}

}  // namespace venturi::app

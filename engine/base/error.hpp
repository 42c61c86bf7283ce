// How the engine fails outside the hot path: one exception that says what, where and what next.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace venturi::base {

/// Exit codes that scripts may rely on.
inline constexpr int kExitPlan = 2;
inline constexpr int kExitFailed = 3;
inline constexpr int kExitTarget = 5;
inline constexpr int kExitInterrupted = 130;

/// What went wrong, in the words of the `failed` event.
struct Problem {
  std::string code = {};
  std::string message = {};
  std::string hint = {};
  std::string where = {};
  int exit_code = kExitFailed;
};

/// Ends the run (or keeps it from starting); never thrown between two operations of a phase
/// because storage failed: that is an errno in a completion.
class Error : public std::exception {
 public:
  explicit Error(Problem problem) : problem_(std::move(problem)) {}
  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] const char* what() const noexcept override { return problem_.message.c_str(); }

 private:
  Problem problem_;
};

/// The group cannot go on: a signal, a lost rank, nobody who listens. Unlike other errors it is
/// not agreed upon at the next barrier, because there may be none.
class Broken : public Error {
 public:
  using Error::Error;
};

/// A plan that contradicts itself or asks for what the engine cannot do (exit 2).
[[nodiscard]] inline Error plan_error(std::string where, std::string message,
                                      std::string hint = {}) {
  return Error({.code = "plan",
                .message = std::move(message),
                .hint = std::move(hint),
                .where = std::move(where),
                .exit_code = kExitPlan});
}

/// A target that refuses before the first measured operation (exit 5).
[[nodiscard]] inline Error target_error(std::string where, std::string message,
                                        std::string hint = {}) {
  return Error({.code = "target",
                .message = std::move(message),
                .hint = std::move(hint),
                .where = std::move(where),
                .exit_code = kExitTarget});
}

}  // namespace venturi::base

// A problem in fixed memory, so that one process can leave it for another.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace venturi::comm {

/// Trivially copyable; longer texts are cut.
struct ProblemText {
  std::array<char, 24> code{};
  std::array<char, 640> message{};
  std::array<char, 256> hint{};
  std::array<char, 256> where{};
  int exit_code = 0;

  /// Copies the problem in.
  void set(const base::Problem& problem) noexcept {
    copy(problem.code, code);
    copy(problem.message, message);
    copy(problem.hint, hint);
    copy(problem.where, where);
    exit_code = problem.exit_code;
  }
  /// The problem as it was set.
  [[nodiscard]] base::Problem get() const {
    return {code.data(), message.data(), hint.data(), where.data(), exit_code};
  }

 private:
  template <std::size_t kSize>
  static void copy(const std::string& text, std::array<char, kSize>& out) noexcept {
    const std::size_t length = std::min(text.size(), kSize - 1);
    std::memcpy(out.data(), text.data(), length);
    out[length] = '\0';
  }
};

}  // namespace venturi::comm

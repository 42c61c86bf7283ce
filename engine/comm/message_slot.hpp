// One line of text that a watching process leaves for rank 0, the only one that writes to stdout.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "comm/notice.hpp"

namespace venturi::comm {

/// In shared memory; one process posts, another takes.
class MessageSlot {
 public:
  /// Leaves a notice (a longer text is cut); false if the last one is still there.
  bool post(const Notice& notice) noexcept {
    if (!claim(State::kEmpty)) return false;
    const std::size_t length = std::min(notice.text.size(), text_.size() - 1);
    std::memcpy(text_.data(), notice.text.data(), length);
    text_[length] = '\0';
    is_warning_ = notice.is_warning;
    stopped_s_ = notice.stopped_s;
    state_.store(State::kFull, std::memory_order_release);
    return true;
  }
  /// Takes the notice, if there is one.
  bool take(Notice& out) {
    if (state_.load(std::memory_order_relaxed) != State::kFull || !claim(State::kFull)) {
      return false;
    }
    out = {text_.data(), is_warning_, stopped_s_};
    state_.store(State::kEmpty, std::memory_order_release);
    return true;
  }

 private:
  enum class State : std::uint32_t { kEmpty, kBusy, kFull };

  bool claim(State from) noexcept {
    return state_.compare_exchange_strong(from, State::kBusy, std::memory_order_acq_rel);
  }

  std::atomic<State> state_ = State::kEmpty;
  std::array<char, 512> text_{};
  bool is_warning_ = true;
  double stopped_s_ = 0.0;
};

}  // namespace venturi::comm

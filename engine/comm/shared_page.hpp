// Memory that the MPI ranks of one node share with the process that watches them.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "comm/channel.hpp"
#include "comm/message_slot.hpp"
#include "comm/problem_text.hpp"

namespace venturi::comm {

/// Named shared memory with the counters of each rank of a node. Unlike the windows of MPI it can
/// be opened by a process that was forked before MPI started.
class SharedPage {
 public:
  /// A new one, with a name of its own; the name lives until `forget_name`. Throws base::Error.
  explicit SharedPage(std::size_t ranks);
  /// One that another process made.
  SharedPage(const std::string& name, std::size_t ranks);
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Every process that needs it has opened it.
  void forget_name() noexcept;

  [[nodiscard]] std::span<Counters> counters() noexcept { return {counters_, ranks_}; }
  [[nodiscard]] MessageSlot& message_slot() noexcept { return header_->message_slot; }

  /// Ends the work of all ranks of the node; the first problem counts.
  void abort(const base::Problem& problem) noexcept;
  [[nodiscard]] bool aborted() const noexcept {
    return header_->abort_state.load(std::memory_order_acquire) == 2;
  }
  [[nodiscard]] base::Problem problem() const { return header_->problem.get(); }
  /// Has the end of the run reported once: by `say`, or by the other process that came first, which
  /// is then waited for, for a bounded time.
  void report(const std::function<void()>& say);

 private:
  struct Header {
    /// 0 fine, 1 somebody is writing the problem, 2 it is written.
    std::atomic<std::uint32_t> abort_state = 0;
    /// 0 not reported, 1 somebody does it, 2 reported.
    std::atomic<std::uint32_t> report_state = 0;
    ProblemText problem;
    MessageSlot message_slot;
  };

  void map(int descriptor, bool is_new);

  std::string name_;
  std::size_t ranks_;
  std::size_t bytes_;
  void* memory_ = nullptr;
  Header* header_ = nullptr;
  Counters* counters_ = nullptr;
};

}  // namespace venturi::comm

// Which writes of the program a place of a file may show, so that a lost one is found.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "pattern/expression.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

class Context;
struct FileState;

/// Places that were written, in order and apart: the first byte and the one behind the last.
using Extents = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// One execution of a step that writes into a file.
struct Rewrite {
  std::uint64_t number = 0;
  /// The smallest number of its phase.
  std::uint64_t phase_first = 0;
  const schema::Transfer* step = nullptr;
  pattern::Slots slots;
  std::uint64_t repetition = 0;
  /// In whose place this rank wrote, and how many requests ended well.
  std::uint64_t owner = 0;
  std::uint64_t done = 0;
  /// How often all ranks had met.
  std::uint64_t meetings = 0;
  /// Its places can be counted again.
  bool is_countable = false;
  /// Every rank did all of it, in its own place.
  bool is_whole = false;
  /// The places of the rank that was asked for last.
  std::optional<std::uint64_t> asked = {};
  Extents extents = {};
};

/// What was written into one file since it was created.
struct History {
  /// How often it was created.
  std::uint64_t created = 0;
  std::deque<Rewrite> rewrites;
  std::vector<std::uint64_t> numbers{0};
  /// Some write began or ended inside of a word.
  bool split_words = false;
  /// Of a tree: all items have been written since this number was given; and how often all ranks
  /// had met then.
  std::optional<std::uint64_t> whole_since = {};
  std::uint64_t whole_meetings = 0;

  /// The file is created anew.
  void restart() {
    const std::uint64_t before = created;
    *this = {};
    created = before + 1;
  }
  void note_number(std::uint64_t number);
};

/// Numbers the writes of a program, alike on all ranks of a group.
class WriteCounter {
 public:
  /// Steps that all ranks come to equally often get a number at each execution. The others, and
  /// those of a phase with a limit, share that of what came before.
  explicit WriteCounter(const std::vector<schema::Step>& program);

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] std::uint64_t phase_first() const noexcept { return phase_first_; }
  [[nodiscard]] bool is_even(const void* step) const;
  void note(const void* step, std::uint64_t times = 1) {
    if (is_even(step)) number_ += times;
  }
  /// A phase begins; `latest` is the largest number of all ranks.
  void begin_phase(std::uint64_t latest) noexcept {
    phase_first_ = number_ = latest + 1;
    ++meetings_;
  }
  /// How often all ranks of the group met: what others did before the last time is done.
  [[nodiscard]] std::uint64_t meetings() const noexcept { return meetings_; }
  void meet() noexcept { ++meetings_; }

 private:
  void look(const std::vector<schema::Step>& steps, bool even);

  std::vector<const void*> even_;
  std::uint64_t number_ = 0;
  std::uint64_t phase_first_ = 0;
  std::uint64_t meetings_ = 0;
};

/// The step of a file is about to write; what it writes bears the counter's number.
Rewrite& note_rewrite(Context& context, const FileState& file, History& history,
                      const schema::Transfer& step, std::uint64_t size_bytes);

/// The number of the oldest write that may be seen in a part of a file by a rank that acts in the
/// place of `owner`; nothing: any.
std::optional<std::uint64_t> first_write(Context& context, FileState& file, History& history,
                                         std::uint64_t owner, std::uint64_t offset,
                                         std::uint64_t bytes);

}  // namespace venturi::execute

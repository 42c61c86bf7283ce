// What all ways of moving data share: buffers, stamps, and what follows a request.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/buffer.hpp"
#include "execute/context.hpp"
#include "pattern/access.hpp"
#include "pattern/dataset.hpp"
#include "pattern/row_cursor.hpp"
#include "payload/halo.hpp"
#include "payload/stamp.hpp"
#include "payload/stream.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// One direction of a `transfer` step on one open file.
class Moving {
 public:
  /// In the direction of the step, or in the other one.
  enum class Way : std::uint8_t { kOwn, kTurned };

  Moving(Context& the_context, const schema::Transfer& the_step, OpenFile& the_open,
         std::uint64_t the_size_bytes, Way way = Way::kOwn);

  Context& context;
  const schema::Transfer& step;
  FileState& file;
  OpenFile& open;
  /// Bytes of the largest request.
  const std::uint64_t size_bytes;
  const schema::Direction direction;
  const bool writes;
  const schema::OperationKind kind;

  /// Of the dataset that the boxes of the step are in; null where it has none.
  [[nodiscard]] const pattern::DatasetLayout* layout() const noexcept {
    return layout_ ? &*layout_ : nullptr;
  }
  /// Something is to be done between two requests, so each stands alone.
  [[nodiscard]] bool one_by_one() const noexcept { return one_by_one_; }
  /// What is written is made anew for each request.
  [[nodiscard]] bool fills() const noexcept { return stream_ != nullptr; }
  /// `prepare` must be called before each request.
  [[nodiscard]] bool prepares() const noexcept { return one_by_one_ || fills(); }
  /// So many requests that follow each other can be prepared before the first of them is made.
  [[nodiscard]] std::size_t most_prepared() const noexcept { return most_prepared_; }
  /// Takes memory for `slots` requests at a time (the same for all where contents do not matter)
  /// and tells the storage.
  void arrange(std::size_t slots);
  /// Whether all requests of a slot move the same memory.
  [[nodiscard]] bool keeps_memory() const noexcept { return pool_bytes_ == 0; }
  /// Memory for the next request of a slot, which moves so many bytes.
  [[nodiscard]] std::byte* data(std::size_t slot, std::uint64_t bytes) noexcept {
    if (keeps_memory()) return data_ + slot * slot_bytes_;
    return next_of_memory(bytes);
  }

  /// The same for one of several requests that follow each other.
  [[nodiscard]] std::byte* data_of(std::size_t number, std::uint64_t bytes) noexcept {
    return data(fills() ? number : 0, bytes);
  }

  /// All memory of the requests.
  [[nodiscard]] std::span<std::byte> memory() const noexcept { return {data_, memory_bytes_}; }

  /// Before a request: thinks, and packs, fills or poisons its memory.
  void prepare(const backend::Request& request);
  /// After one that ended well: checks what was read, and syncs. Returns the time.
  std::uint64_t conclude(const backend::Request& request, std::uint64_t now_ns);
  /// Whether a read that moved only `moved` bytes shows that the file lost its end: that is
  /// damage of data, which is noted here, and the run goes on.
  bool is_truncated(const backend::Request& request, std::uint64_t moved, int error);
  /// After one that moved only `moved` bytes and cannot go on.
  void fail(const backend::Request& request, std::uint64_t moved, int error);
  /// The storage is not ready for the step's requests, so none can be made.
  void stop(int error);

 private:
  void reserve(std::size_t slots);
  void reserve_literal();
  void think(const backend::Request& request);
  void pack(const backend::Request& request);
  void renew(const backend::Request& request);
  void make(const backend::Request& request);
  void fill(const backend::Request& request);
  void look_about(const backend::Request& request);
  void reserve_filled(std::size_t slots);
  void reserve_memory(std::size_t slots);
  std::byte* next_of_memory(std::uint64_t bytes) noexcept;
  std::uint64_t sync();
  void verify(const backend::Request& request);
  void accept_writes(std::uint64_t offset, std::uint64_t bytes);
  /// Calls `action(offset, bytes)` for each part of a request whose words follow each other.
  template <class Action>
  void for_each_run(const backend::Request& request, const Action& action);

  bool verify_;
  bool syncs_;
  /// Some reads find memory that has no pages.
  bool fresh_;
  /// Requests come behind seeks, or reads that bring nothing.
  bool looks_about_;
  /// Requests that were prepared.
  std::uint64_t prepared_ = 0;
  std::optional<pattern::DatasetLayout> layout_;
  /// Where in the application's array the cells of the next request are.
  std::optional<payload::HaloCursor> halo_;
  bool one_by_one_;
  /// Of a file that is verified.
  std::optional<payload::Stamp> stamp_;
  /// Memory was taken for so many requests at a time.
  std::size_t slots_ = 0;
  std::byte* data_ = nullptr;
  std::uint64_t slot_bytes_ = 0;
  /// 0: all requests of a slot move the same memory.
  std::uint64_t pool_bytes_ = 0;
  std::uint64_t memory_bytes_ = 0;
  /// Where the bytes of writes come from; null: they need not be made.
  payload::Stream* stream_ = nullptr;
  std::size_t most_prepared_ = 1;
  /// What the workload gives to be written.
  base::Buffer literal_;
};

/// All sharers make the file show each its own next places, unless it does already; false if one of
/// them cannot. All sharers call it, or, where a rank cannot, `fail_showing`. Throws base::Error
/// (exit 2) if places go back or overlap.
bool show_places(Moving& moving, const pattern::Cursor& cursor);
void fail_showing(comm::Group& sharers);

class Schedule;

/// The requests of a step, of `size_bytes` each, in the place of `owner`, who the slots say acts;
/// `start_bytes` is where those begin that append or go on. Slots must not change while it lives.
pattern::Cursor cursor_of(Context& context, const FileState& file, const schema::Transfer& step,
                          std::uint64_t owner, std::uint64_t size_bytes, std::uint64_t start_bytes);

/// These do a cursor's requests in one way; they return how many ended well.
std::uint64_t move_in_order(Moving& moving, pattern::Cursor& cursor);
std::uint64_t move_in_order(Moving& moving, pattern::RowCursor& cursor);
/// One request at a time, `turned` ones the other way (`own` where there are none), each at its
/// time where there is a schedule.
std::uint64_t move_in_turn(Moving& own, Moving& turned, pattern::Cursor& cursor,
                           Schedule* schedule);
/// Up to `depth` of the step at a time, otherwise as in turn.
std::uint64_t move_in_flight(Moving& own, Moving& turned, pattern::Cursor& cursor,
                             Schedule* schedule);
/// All sharers of the file call it, or, where a rank cannot, `fail_together`. The arrivals of a
/// rate come from the key, which is the same for all of them; where there are `turned` requests, so
/// does which calls these are.
std::uint64_t move_together(Moving& own, Moving& turned, pattern::Cursor& cursor,
                            std::uint64_t arrivals_key);
void fail_together(comm::Group& sharers);

}  // namespace venturi::execute

// Before and after a request, whichever way it is made.
#include "execute/moving.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.hpp"
#include "base/random.hpp"
#include "payload/literal.hpp"

namespace venturi::execute {

using schema::OperationKind;

namespace {

constexpr std::uint64_t kPageBytes = 4096;

/// In a step that moves through memory, requests of so many bytes begin at multiples of this.
std::uint64_t alignment_of(std::uint64_t bytes) {
  constexpr std::uint64_t kLineBytes = 64;
  constexpr std::uint64_t kBlockBytes = 512;
  return bytes >= kPageBytes ? kPageBytes : bytes >= kBlockBytes ? kBlockBytes : kLineBytes;
}

[[noreturn]] void too_deep() {
  throw base::plan_error("depth", "the requests in flight do not fit into memory");
}

schema::Direction opposite(schema::Direction direction) {
  return direction == schema::Direction::kWrite ? schema::Direction::kRead
                                                : schema::Direction::kWrite;
}

/// Of things that come `each` times with a request, how many come with the one of this number.
std::uint64_t share_of(double each, std::uint64_t number) {
  const auto up_to = [&](std::uint64_t requests) {
    return static_cast<std::uint64_t>(std::floor(static_cast<double>(requests) * each + 0.5));
  };
  return up_to(number + 1) - up_to(number);
}

}  // namespace

Moving::Moving(Context& the_context, const schema::Transfer& the_step, OpenFile& the_open,
               std::uint64_t the_size_bytes, Way way)
    : context(the_context),
      step(the_step),
      file(the_context.files[static_cast<std::size_t>(the_step.file)]),
      open(the_open),
      size_bytes(the_size_bytes),
      direction(way == Way::kOwn ? the_step.operation : opposite(the_step.operation)),
      writes(direction == schema::Direction::kWrite),
      kind(writes ? OperationKind::kWrite : OperationKind::kRead),
      verify_(file.plan->content.verify && (writes || step.verify)),
      syncs_(step.sync != schema::SyncMode::kNone && way == Way::kOwn),
      fresh_(step.fresh > 0.0 && !writes && the_size_bytes >= kPageBytes),
      looks_about_(step.seeks > 0.0 || step.empty_reads > 0.0),
      one_by_one_(verify_ || step.think_s > 0.0 || syncs_ || fresh_ || looks_about_ ||
                  step.halo.has_value() || context.clock.is_simulated() ||
                  context.goes_on_after_errors()) {
  if (verify_) stamp_ = context.stamp(*file.plan, open);
  if (const auto* boxes = std::get_if<schema::Box>(&step.pattern.value); boxes != nullptr) {
    layout_.emplace(file.plan->datasets, static_cast<std::size_t>(boxes->dataset));
  }
  if (step.halo) halo_.emplace(*step.halo, context.evaluator, context.slots);
  reserve(1);
}

void Moving::reserve(std::size_t slots) {
  slots_ = slots;
  pool_bytes_ = 0;
  stream_ = nullptr;
  most_prepared_ = 1;
  if (writes && step.literal) return reserve_literal();
  if (writes && !verify_) stream_ = context.stream(file);
  if (step.memory_bytes > 0) return reserve_memory(slots);
  if (fills()) return reserve_filled(slots);
  slot_bytes_ = verify_ || !writes ? (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes : 0;
  if (__builtin_mul_overflow(slot_bytes_, slots - 1, &memory_bytes_) ||
      __builtin_add_overflow(memory_bytes_, size_bytes, &memory_bytes_)) {
    too_deep();
  }
  data_ = writes ? context.filler(*file.plan, memory_bytes_) : context.reader(memory_bytes_);
}

/// All requests of the step write the same memory.
void Moving::reserve_literal() {
  slot_bytes_ = 0;
  memory_bytes_ = size_bytes;
  data_ = literal_.reserve(size_bytes);
  payload::render(*step.literal, context.evaluator, context.slots, {data_, size_bytes});
}

void Moving::arrange(std::size_t slots) {
  if (slots != slots_) reserve(slots);
  const int error = file.storage->arrange(open.handle, static_cast<std::uint32_t>(slots), memory());
  if (error != 0) stop(error);
}

/// Small requests are filled together, as far as they stay in the first-level cache.
void Moving::reserve_filled(std::size_t slots) {
  constexpr std::uint64_t kTogetherBytes = 32'768;
  constexpr std::uint64_t kBlockBytes = 512;
  const std::uint64_t align = size_bytes >= kPageBytes ? kPageBytes : kBlockBytes;
  slot_bytes_ = (size_bytes + align - 1) / align * align;
  if (slots == 1 && !one_by_one_ && slot_bytes_ > 0) {
    most_prepared_ = std::clamp<std::size_t>(kTogetherBytes / slot_bytes_, 1, kMostInFlight);
  }
  if (__builtin_mul_overflow(slot_bytes_, std::max(slots, most_prepared_), &memory_bytes_)) {
    too_deep();
  }
  data_ = context.writer(memory_bytes_);
}

// Steps follow each other in loops, so where the next request comes is kept between them.
void Moving::reserve_memory(std::size_t slots) {
  std::uint64_t least = 0;
  if (__builtin_mul_overflow(size_bytes + alignment_of(size_bytes), slots + 1, &least)) too_deep();
  pool_bytes_ = std::max(static_cast<std::uint64_t>(step.memory_bytes), least);
  memory_bytes_ = pool_bytes_;
  data_ = writes ? context.filler(*file.plan, pool_bytes_) : context.reader(pool_bytes_);
}

std::byte* Moving::next_of_memory(std::uint64_t bytes) noexcept {
  std::uint64_t& next = writes ? context.write_at : context.read_at;
  const std::uint64_t align = alignment_of(bytes);
  std::uint64_t at = (next + align - 1) / align * align;
  if (at + bytes > pool_bytes_) at = 0;
  next = at + bytes;
  return data_ + at;
}

/// Gives back the pages behind a read, where it is its turn.
void Moving::renew(const backend::Request& request) {
  context.fresh_due += step.fresh;
  if (context.fresh_due < 1.0) return;
  context.fresh_due -= 1.0;
  // All of them are the engine's own: memory begins at a page and fills whole ones.
  const std::uint64_t bytes = (request.bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  ::madvise(request.data, bytes, MADV_DONTNEED);
}

/// Moves the position, and reads behind the file's end, as often as this request's turn asks.
void Moving::look_about(const backend::Request& request) {
  const auto repeat = [&](OperationKind what, std::uint64_t times, const auto& call) {
    for (std::uint64_t i = 0; i < times && !context.idle(); ++i) {
      const std::uint64_t begin = context.clock.now_ns();
      const int error = call();
      const std::uint64_t end = context.clock.now_ns();
      if (error != 0) {
        context.fail_request({.kind = what, .path = open.path, .error = error},
                             file.storage->hint(error));
        return;
      }
      context.meter().record(what, begin, end, 0);
      context.count(0, 1);
    }
  };
  repeat(OperationKind::kSeek, share_of(step.seeks, prepared_),
         [&] { return file.storage->seek(open.handle, request.offset); });
  repeat(OperationKind::kEmptyRead, share_of(step.empty_reads, prepared_),
         [&] { return file.storage->read_behind(open.handle, {request.data, request.bytes}); });
  ++prepared_;
}

void Moving::prepare(const backend::Request& request) {
  if (step.think_s > 0.0) think(request);
  if (fresh_) renew(request);
  if (looks_about_) look_about(request);
  if (halo_ && writes) pack(request);
  if (fills()) make(request);
  if (!verify_) return;
  if (writes) {
    for_each_run(request, [&](std::uint64_t offset, std::span<std::byte> data) {
      stamp_->fill(data, offset);
      return true;
    });
  } else {
    payload::poison({request.data, request.bytes});
  }
}

/// Making the bytes of a write is a part of the computing before it, its last.
void Moving::make(const backend::Request& request) {
  if (step.think_s == 0.0) return fill(request);
  const std::uint64_t begin = context.clock.now_ns();
  fill(request);
  const std::uint64_t making_ns = context.clock.now_ns() - begin;
  context.making_ns[static_cast<std::size_t>(std::bit_width(request.bytes))] = making_ns;
  context.meter().add_compute(making_ns);
}

/// Makes what a write moves unlike all that was written before. Where the step moves through so
/// much memory that no storage compresses that much at once, a mark in each 4 KiB does: the rest
/// stays as far from the processor as the step wants it.
void Moving::fill(const backend::Request& request) {
  constexpr std::uint64_t kFarBytes = std::uint64_t{2} << 20U;
  const std::span<std::byte> data(request.data, request.bytes);
  if (halo_) return stream_->mask(data);
  const bool is_far = step.memory_bytes > 0 && pool_bytes_ >= kFarBytes;
  if (is_far && !file.plan->content.duplicates) return stream_->mark(data);
  stream_->fill(data);
}

/// What an application does around a call: between the request's memory and its own array.
void Moving::pack(const backend::Request& request) {
  std::byte* array = context.cells(*file.plan, halo_->array_bytes());
  const std::uint64_t begin = context.clock.now_ns();
  if (writes) {
    halo_->pack(array, {request.data, request.bytes});
  } else {
    halo_->unpack(array, {request.data, request.bytes});
  }
  context.meter().add_compute(context.clock.now_ns() - begin);
}

template <class Action>
void Moving::for_each_run(const backend::Request& request, const Action& action) {
  if (request.box == nullptr) {
    action(request.offset, std::span(request.data, request.bytes));
    return;
  }
  bool goes_on = true;
  layout_->for_each_run(*request.box,
                        [&](std::uint64_t offset, std::uint64_t at, std::uint64_t bytes) {
                          goes_on = goes_on && action(offset, std::span(request.data + at, bytes));
                        });
}

void Moving::think(const backend::Request& request) {
  const std::uint64_t making_ns =
      fills() ? context.making_ns[static_cast<std::size_t>(std::bit_width(request.bytes))] : 0;
  const Span spent =
      context.think(std::max(0.0, step.think_s - static_cast<double>(making_ns) * 1e-9));
  context.meter().add_compute(spent.end_ns - spent.begin_ns);
}

std::uint64_t Moving::conclude(const backend::Request& request, std::uint64_t now_ns) {
  if (verify_ && !writes) verify(request);
  if (halo_ && !writes) pack(request);
  if (writes && syncs_) context.note_unsynced(open, request.bytes);
  if (writes) context.note_write(file, &open);
  return syncs_ ? sync() : now_ns;
}

/// Tells the stamps which writes of this run may be seen in a part of the file.
void Moving::accept_writes(std::uint64_t offset, std::uint64_t bytes) {
  if (open.history == nullptr) return;
  constexpr auto kRankSlot = static_cast<std::size_t>(schema::Slot::kRank);
  const auto owner = static_cast<std::uint64_t>(context.slots[kRankSlot].integer());
  History& history = *open.history;
  stamp_->accept({.first = first_write(context, file, history, owner, offset, bytes),
                  .numbers = history.numbers,
                  .split_words = history.split_words});
}

void Moving::verify(const backend::Request& request) {
  for_each_run(request, [&](std::uint64_t offset, std::span<const std::byte> data) {
    accept_writes(offset, data.size());
    if (stamp_->matches(data, offset) || !file.storage->knows(open.handle, request)) return true;
    context.fail_verification({.kind = kind, .path = open.path}, stamp_->examine(data, offset));
    return false;  // one request is one error
  });
}

std::uint64_t Moving::sync() {
  const std::uint64_t begin = context.clock.now_ns();
  const int error = file.storage->sync(open.handle, step.sync);
  const std::uint64_t end = context.clock.now_ns();
  if (error != 0) {
    context.fail_request({.kind = OperationKind::kSync, .path = open.path, .error = error},
                         file.storage->hint(error));
    return end;
  }
  context.meter().record(OperationKind::kSync, begin, end, 0);
  context.note_sync(&open, step.sync);
  context.count(0, 1);
  return end;
}

bool Moving::is_truncated(const backend::Request& request, std::uint64_t moved, int error) {
  if (!verify_ || writes || error != 0 || request.box != nullptr) return false;
  const std::uint64_t from = request.offset + moved;
  const std::uint64_t missing = request.bytes - moved;
  context.fail_verification(
      {.kind = kind, .path = open.path},
      {.damage = schema::Damage::kTruncated,
       .offset = from,
       .bytes = missing,
       .what = fmt::format("truncated: the file ends at offset {}, {} bytes are missing", from,
                           missing)});
  return true;
}

void Moving::fail(const backend::Request& request, std::uint64_t moved, int error) {
  const char* nothing = writes ? "nothing more was written" : "the file ends here";
  context.fail_request({.kind = kind,
                        .path = open.path,
                        .offset = request.offset + moved,
                        .error = error,
                        .what = error != 0 ? "" : nothing},
                       file.storage->hint(error));
}

void Moving::stop(int error) {
  context.fail_operation({.kind = kind, .path = open.path, .error = error},
                         file.storage->hint(error));
}

}  // namespace venturi::execute

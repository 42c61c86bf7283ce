// Requests of one direction, one after the other: every way of moving data in order rests on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "execute/moving.hpp"

namespace venturi::execute {

/// Hands requests to the storage, continues what was short, and tells a recorder of each end.
class Batch {
 public:
  static constexpr std::size_t kMost = kMostInFlight;

  explicit Batch(RequestMemory& memory) : completions_(memory.completions) {}

  /// Does the requests; returns how many ended well. `record(end_ns, offset, bytes)` is called for
  /// each of those; it began when the one before ended, the first at `begin_ns`.
  template <class Record>
  [[gnu::always_inline]] std::size_t run(Moving& moving, std::span<const backend::Request> requests,
                                         std::uint64_t begin_ns, Record&& record) {
    std::uint64_t last_ns = begin_ns;
    cut_ = false;
    std::size_t at = 0;
    while (at < requests.size()) {
      const std::size_t ended = moving.file.storage->submit(moving.open.handle, moving.direction,
                                                            requests.subspan(at), completions_);
      for (std::size_t i = 0; i < ended; ++i) {
        const backend::Completion& completion = completions_[i];
        const backend::Request& request = requests[at + i];
        std::uint64_t end_ns = completion.end_ns;
        if (completion.bytes != request.bytes) [[unlikely]] {
          const std::optional<std::uint64_t> finished = finish_short(moving, request, completion);
          if (!finished) {
            last_ns_ = last_ns;
            return at + i;
          }
          end_ns = *finished;
        }
        last_ns = std::max(last_ns, end_ns);
        record(last_ns, request.offset, request.bytes);
      }
      at += ended;
    }
    last_ns_ = last_ns;
    return at;
  }

  /// A read of the last run found that the file had lost its end; there is nothing to verify.
  [[nodiscard]] bool was_cut() const noexcept { return cut_; }
  /// When the last request ended.
  [[nodiscard]] std::uint64_t last_ns() const noexcept { return last_ns_; }

 private:
  /// Goes on with the rest of a transfer that was short; when it ended, nothing if it failed.
  [[gnu::noinline, gnu::cold]] std::optional<std::uint64_t> finish_short(
      Moving& moving, const backend::Request& request, backend::Completion completion) {
    std::uint64_t moved = completion.bytes;
    // A box has no rest that begins at an offset.
    while (completion.error == 0 && completion.bytes > 0 && moved < request.bytes &&
           request.box == nullptr) {
      moving.context.meter().count_short();
      const backend::Request rest{request.offset + moved, request.bytes - moved,
                                  request.data + moved};
      moving.file.storage->submit(moving.open.handle, moving.direction, {&rest, 1},
                                  {&completion, 1});
      moved += completion.bytes;
    }
    if (moved == request.bytes) return completion.end_ns;
    if (moving.is_truncated(request, moved, completion.error)) {
      cut_ = true;
      return completion.end_ns;
    }
    moving.fail(request, moved, completion.error);
    return std::nullopt;
  }

  std::uint64_t last_ns_ = 0;
  bool cut_ = false;
  std::span<backend::Completion, kMost> completions_;
};

}  // namespace venturi::execute

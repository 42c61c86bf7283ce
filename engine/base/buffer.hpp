// Memory for transfers, aligned so that O_DIRECT accepts it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace venturi::base {

/// Page-aligned bytes; grows on demand and never shrinks; contents are not kept when it grows.
///
/// The system has given its pages before it is used: the first read into new memory would take the
/// time of its page faults, too.
class Buffer {
 public:
  static constexpr std::size_t kAlignmentBytes = 4096;

  /// At least `bytes` of memory. Throws std::bad_alloc.
  std::byte* reserve(std::size_t bytes) {
    if (bytes > capacity_bytes_ || !memory_) {
      memory_.reset();
      const std::size_t rounded = (bytes / kAlignmentBytes + 1) * kAlignmentBytes;
      memory_.reset(
          static_cast<std::byte*>(::operator new(rounded, std::align_val_t{kAlignmentBytes})));
      capacity_bytes_ = rounded;
      for (std::size_t at = 0; at < rounded; at += kAlignmentBytes) memory_.get()[at] = {};
    }
    return memory_.get();
  }
  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete(memory, std::align_val_t{kAlignmentBytes});
    }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_bytes_ = 0;
};

}  // namespace venturi::base

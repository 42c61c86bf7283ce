// Zeros that cost nothing before they are touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace venturi::base {

/// `kSize` values of memory that the system gives page by page, at the first touch of each. Before
/// `make` there is none of it.
template <class Value, std::size_t kSize>
class LazyArray {
  static_assert(std::is_trivial_v<Value>);

 public:
  LazyArray() = default;
  LazyArray(LazyArray&& other) noexcept : values_(std::exchange(other.values_, nullptr)) {}
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(values_, other.values_);
    return *this;
  }
  ~LazyArray() {
    if (values_ != nullptr) ::munmap(values_, kBytes);
  }

  /// Throws std::bad_alloc.
  void make() {
    void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    // One huge page would be many that nobody touches.
    ::madvise(memory, kBytes, MADV_NOHUGEPAGE);
    values_ = static_cast<Value*>(memory);
  }
  [[nodiscard]] bool is_made() const noexcept { return values_ != nullptr; }
  [[nodiscard]] Value& operator[](std::size_t index) noexcept { return values_[index]; }
  [[nodiscard]] const Value& operator[](std::size_t index) const noexcept { return values_[index]; }
  [[nodiscard]] std::span<const Value, kSize> values() const noexcept {
    return std::span<const Value, kSize>(values_, kSize);
  }

 private:
  static constexpr std::size_t kBytes = kSize * sizeof(Value);

  Value* values_ = nullptr;
};

}  // namespace venturi::base

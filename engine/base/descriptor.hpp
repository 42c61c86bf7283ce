// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace venturi::base {

/// Owns one descriptor; -1 means none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] int get() const noexcept { return value_; }
  /// Gives the descriptor to the caller, who closes it.
  [[nodiscard]] int release() noexcept { return std::exchange(value_, -1); }
  explicit operator bool() const noexcept { return value_ >= 0; }

 private:
  int value_ = -1;
};

}  // namespace venturi::base

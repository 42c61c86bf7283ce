// What goes on beside a worker's operations: signs of life, signals, and writing to the disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "probe/ring.hpp"
#include "probe/time.hpp"

namespace venturi::probe {

/// A thread that touches nothing but the ring, so it goes on while an operation hangs: it notes
/// that the worker lives, makes the ring persistent once a second, and takes the signals that ask
/// for the end. When an operation still hangs some seconds after that, it ends the process.
class Companion : public Time {
 public:
  /// From now on signals come to the companion alone. The process also ends when its parent does.
  explicit Companion(Ring& ring);
  ~Companion() override;

  [[nodiscard]] std::uint64_t monotonic_ns() const override { return base::monotonic_ns(); }
  [[nodiscard]] std::uint64_t wall_ns() const override { return realtime_ns(); }
  void sleep_until(std::uint64_t monotonic_ns) override;
  [[nodiscard]] bool must_stop() const override { return stop_; }
  [[nodiscard]] const std::atomic<bool>& stop() const noexcept { return stop_; }

 private:
  void work();
  [[noreturn]] void leave_hung();

  Ring& ring_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace venturi::probe

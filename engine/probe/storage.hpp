// What a probe does to storage: one operation at a time, on a pool or a data file of its own.
#pragma once

#include <atomic>
#include <cstdint>

#include "probe/ring.hpp"

namespace venturi::probe {

/// How an operation ended.
struct Outcome {
  int error = 0;
  /// `Flag`s of what was seen: kCached, kCacheUnknown, kCorrupt.
  std::uint8_t flags = 0;
  /// What the probe did for itself meanwhile; it is no part of the service time.
  std::uint64_t own_ns = 0;
};

/// The real storage, or a simulated one.
class Storage {
 public:
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;

  /// Makes what is missing of the pool or the data file, unless `stop` says so first; returns an
  /// errno, after which it may be called again.
  virtual int prepare(const std::atomic<bool>& stop) = 0;
  /// Makes ready what the next operation needs; costs no call to the storage.
  virtual void make_ready(Operation) {}
  /// Whether the operation is due: else the pool would not keep its size.
  [[nodiscard]] virtual bool is_due(Operation) const { return true; }
  virtual Outcome perform(Operation operation) = 0;
};

}  // namespace venturi::probe

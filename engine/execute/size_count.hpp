// Counts requests by size, cheaply where neighbours have the same.
#pragma once

#include <cstdint>

#include "measure/meter.hpp"

namespace venturi::execute {

/// Requests of one size after the other are counted together.
class SizeRun {
 public:
  SizeRun(measure::Meter& meter, schema::OperationKind kind) : meter_(meter), kind_(kind) {}
  SizeRun(const SizeRun&) = delete;
  SizeRun& operator=(const SizeRun&) = delete;
  ~SizeRun() { flush(); }

  void add(std::uint64_t bytes) {
    if (bytes != bytes_) flush();
    bytes_ = bytes;
    ++count_;
  }

 private:
  void flush() {
    meter_.count_size(kind_, bytes_, count_);
    count_ = 0;
  }

  measure::Meter& meter_;
  schema::OperationKind kind_;
  std::uint64_t bytes_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace venturi::execute

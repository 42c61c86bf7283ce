// Moving between bins and folding them.
#include "measure/time_line.hpp"

namespace venturi::measure {
namespace {

void add(TimeLine::Bin& into, const TimeLine::Bin& what) noexcept {
  into.bytes_written += what.bytes_written;
  into.bytes_read += what.bytes_read;
  into.operations += what.operations;
}

}  // namespace

void TimeLine::fold() noexcept {
  for (std::size_t i = 0; i < kBins / 2; ++i) {
    Bin sum = bins_[2 * i];
    add(sum, bins_[2 * i + 1]);
    bins_[i] = sum;
  }
  for (std::size_t i = kBins / 2; i < kBins; ++i) bins_[i] = {};
  width_ns_ *= 2;
  move_to(begin_ns_);
}

void TimeLine::move_to(std::uint64_t ns) noexcept {
  const std::uint64_t since = ns > epoch_ns_ ? ns - epoch_ns_ : 0;
  while (since / width_ns_ >= kBins) {
    begin_ns_ = epoch_ns_;  // so that folding, which comes back here, ends
    fold();
  }
  current_ = static_cast<std::size_t>(since / width_ns_);
  begin_ns_ = epoch_ns_ + current_ * width_ns_;
  end_ns_ = begin_ns_ + width_ns_;
}

void TimeLine::merge(const TimeLine& other) noexcept {
  widen_to(other.width_ns_);
  for (std::size_t i = 0; i < kBins; ++i) {
    const Bin& bin = other.bins_[i];
    if (bin.operations == 0 && bin.bytes_read == 0 && bin.bytes_written == 0) continue;
    add(at(other.epoch_ns_ + i * other.width_ns_ + other.width_ns_ / 2), bin);
  }
}

}  // namespace venturi::measure

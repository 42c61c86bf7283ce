// The less frequent half of measuring: sizes, faults, nesting.
#include "measure/meter.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace venturi::measure {

void Meter::begin(Tally& tally, std::uint64_t end_ns) {
  tally.latency.prepare();
  if (first_ns_ == 0) first_ns_ = end_ns;
}

void Meter::add(schema::OperationKind kind, Sum sum) noexcept {
  if (sum.operations == 0) return;
  Tally& tally = tallies_[static_cast<std::size_t>(kind)];
  tally.bytes += sum.bytes;
  tally.operations += sum.operations;
  tally.ns += sum.last_ns - sum.begin_ns;
  tally.latency.widen(sum.least_ns, sum.most_ns);
  last_ns_ = std::max(last_ns_, sum.last_ns);
  time_line_.at(sum.last_ns).add(kind, sum.operations, sum.bytes);
}

std::uint64_t Meter::turn(schema::OperationKind kind, Sum sum, std::uint64_t end_ns) noexcept {
  add(kind, sum);
  if (first_ns_ == 0) first_ns_ = end_ns;
  time_line_.at(end_ns);
  return time_line_.end_ns();
}

void Meter::count_size(schema::OperationKind kind, std::uint64_t bytes, std::uint64_t count) {
  if (count == 0) return;
  constexpr unsigned kBits = std::countr_zero(kPlaces);
  const std::uint64_t key = bytes * kKinds + static_cast<std::uint64_t>(kind);
  std::size_t place = key * 0x9e3779b97f4a7c15U >> (64U - kBits);
  for (; places_[place] != 0; place = (place + 1) % kPlaces) {
    SizeCount& known = sizes_[places_[place] - 1U];
    if (known.kind == kind && known.bytes == bytes) {
      known.count += count;
      return;
    }
  }
  if (sizes_.size() == kSizes) {
    other_requests_ += count;
    return;
  }
  sizes_.push_back({kind, bytes, count});
  places_[place] = static_cast<std::uint8_t>(sizes_.size());
}

void Meter::fail(Fault fault) {
  ++tallies_[static_cast<std::size_t>(fault.kind)].errors;
  if (fault.damage) {
    ++corrupt_operations_;
    corrupt_bytes_ += fault.bytes;
  }
  if (faults_.size() < kFaults) faults_.push_back(std::move(fault));
}

void Meter::merge(const Meter& inner) {
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const Tally& from = inner.tallies_[kind];
    Tally& into = tallies_[kind];
    into.bytes += from.bytes;
    into.operations += from.operations;
    into.errors += from.errors;
    into.ns += from.ns;
    into.latency.merge(from.latency);
  }
  time_line_.merge(inner.time_line_);
  for (const SizeCount& size : inner.sizes_) count_size(size.kind, size.bytes, size.count);
  other_requests_ += inner.other_requests_;
  for (const Fault& fault : inner.faults_) {
    if (faults_.size() < kFaults) faults_.push_back(fault);
  }
  short_transfers_ += inner.short_transfers_;
  if (inner.found_) add_found(*inner.found_);
  compute_ns_ += inner.compute_ns_;
  wait_ns_ += inner.wait_ns_;
  serving_ns_ += inner.serving_ns_;
  durable_bytes_ += inner.durable_bytes_;
  saved_bytes_ += inner.saved_bytes_;
  corrupt_operations_ += inner.corrupt_operations_;
  corrupt_bytes_ += inner.corrupt_bytes_;
  if (first_ns_ == 0) first_ns_ = inner.first_ns_;
  last_ns_ = std::max(last_ns_, inner.last_ns_);
  add_schedule(inner.open_loop_);
}

void Meter::add_schedule(const OpenLoop& loop) {
  open_loop_.requests += loop.requests;
  open_loop_.late += loop.late;
  open_loop_.most_late_ns = std::max(open_loop_.most_late_ns, loop.most_late_ns);
  open_loop_.wanted_ns += loop.wanted_ns;
  open_loop_.took_ns += loop.took_ns;
  open_loop_.response.merge(loop.response);
  open_loop_.service.merge(loop.service);
}

Work Meter::work() const noexcept {
  using enum schema::OperationKind;
  Work sum;
  for (const schema::OperationKind kind : {kWrite, kRead, kSync, kClose}) {
    sum.bytes += tally(kind).bytes;
    sum.ns += tally(kind).ns;
  }
  return sum;
}

std::uint64_t Meter::operations() const noexcept {
  std::uint64_t sum = 0;
  for (const Tally& tally : tallies_) sum += tally.operations;
  return sum;
}

std::uint64_t Meter::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Tally& tally : tallies_) sum += tally.bytes;
  return sum;
}

std::uint64_t Meter::errors() const noexcept {
  std::uint64_t sum = 0;
  for (const Tally& tally : tallies_) sum += tally.errors;
  return sum;
}

}  // namespace venturi::measure

// Merging over the ranks: sums and extremes by reduction, one fixed block per rank by gathering.
#include "measure/merge.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace venturi::measure {
namespace {

using comm::Reduction;
using schema::OperationKind;

/// What a rank says about itself.
struct RankBlock {
  Span span;
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
  std::uint64_t open_ns = 0;
  std::uint64_t transfer_ns = 0;
  std::uint64_t close_ns = 0;
  std::uint64_t compute_ns = 0;
};

struct SizeBlock {
  std::uint64_t used = 0;
  std::array<SizeCount, Meter::kSizes> sizes{};
};

struct FaultBlock {
  std::uint64_t used = 0;
  struct Item {
    OperationKind kind{};
    int error = 0;
    std::uint64_t offset = 0;
    std::uint64_t at_ns = 0;
    std::array<char, 256> path{};
    std::array<char, 256> what{};
  };
  std::array<Item, Meter::kFaults> items{};
};

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::uint64_t ns_of(const Meter& meter, std::initializer_list<OperationKind> kinds) {
  std::uint64_t sum = 0;
  for (const OperationKind kind : kinds) sum += meter.tally(kind).ns;
  return sum;
}

RankBlock block_of(const Meter& meter, const Span& span) {
  using enum OperationKind;
  return {.span = span,
          .bytes = meter.bytes(),
          .operations = meter.operations(),
          .open_ns = ns_of(meter, {kOpen, kCreate, kMkdir}),
          .transfer_ns = ns_of(meter, {kWrite, kRead, kSync}),
          .close_ns = ns_of(meter, {kClose}),
          .compute_ns = meter.compute_ns()};
}

void fill_ranks(const std::vector<RankBlock>& blocks, schema::PhaseFinished& out,
                std::int64_t& first_start_ns) {
  if (blocks.empty()) return;
  first_start_ns = blocks[0].span.start_ns;
  std::int64_t last_end_ns = blocks[0].span.end_ns;
  for (const RankBlock& block : blocks) {
    first_start_ns = std::min(first_start_ns, block.span.start_ns);
    last_end_ns = std::max(last_end_ns, block.span.end_ns);
  }
  const auto seconds_between = [](std::int64_t from, std::int64_t to) {
    return base::seconds(static_cast<std::uint64_t>(std::max<std::int64_t>(0, to - from)));
  };
  for (const RankBlock& block : blocks) {
    out.bytes += signed_of(block.bytes);
    out.operations += signed_of(block.operations);
    out.per_rank.bytes.push_back(signed_of(block.bytes));
    out.per_rank.operations.push_back(signed_of(block.operations));
    out.per_rank.open_s.push_back(base::seconds(block.open_ns));
    out.per_rank.transfer_s.push_back(base::seconds(block.transfer_ns));
    out.per_rank.close_s.push_back(base::seconds(block.close_ns));
    out.per_rank.total_s.push_back(seconds_between(block.span.start_ns, block.span.end_ns));
    out.per_rank.start_s.push_back(seconds_between(first_start_ns, block.span.start_ns));
    out.seconds.compute = std::max(out.seconds.compute, base::seconds(block.compute_ns));
  }
  const auto largest = [](const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
  };
  out.seconds.open = largest(out.per_rank.open_s);
  out.seconds.transfer = largest(out.per_rank.transfer_s);
  out.seconds.close = largest(out.per_rank.close_s);
  out.seconds.total = seconds_between(first_start_ns, last_end_ns);
  out.ranks = signed_of(blocks.size());
}

void merge_kind(comm::Group& group, Tally& tally, std::uint64_t errors, OperationKind kind,
                schema::PhaseFinished& out) {
  std::array<std::uint64_t, 2> sums{tally.bytes, tally.operations};
  group.reduce(sums, Reduction::kSum);
  std::array<std::uint64_t, 2> largest{tally.ns, tally.latency.max_ns()};
  group.reduce(largest, Reduction::kMaximum);
  const std::uint64_t smallest = group.minimum(tally.latency.min_ns());
  Histogram merged = tally.latency;
  group.reduce(merged.counts(), Reduction::kSum);
  merged.set_extremes(smallest, largest[1]);
  out.by_operation.push_back({.kind = kind,
                              .bytes = signed_of(sums[0]),
                              .operations = signed_of(sums[1]),
                              .errors = signed_of(errors),
                              .seconds = base::seconds(largest[0]),
                              .latency = merged.document()});
}

void merge_kinds(comm::Group& group, Meter& meter, schema::PhaseFinished& out) {
  std::array<std::uint64_t, 2 * kKinds> counts{};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    counts[kind] = meter.tallies()[kind].operations;
    counts[kKinds + kind] = meter.tallies()[kind].errors;
  }
  group.reduce(counts, Reduction::kSum);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const std::uint64_t errors = counts[kKinds + kind];
    out.errors += signed_of(errors);
    if (counts[kind] + errors == 0) continue;
    merge_kind(group, meter.tallies()[kind], errors, static_cast<OperationKind>(kind), out);
  }
}

void merge_sizes(comm::Group& group, const Meter& meter, schema::PhaseFinished& out) {
  SizeBlock mine;
  mine.used = meter.sizes().size();
  std::copy(meter.sizes().begin(), meter.sizes().end(), mine.sizes.begin());
  std::map<std::pair<OperationKind, std::uint64_t>, std::uint64_t> sums;
  for (const SizeBlock& block : group.gather(mine)) {
    for (std::size_t i = 0; i < block.used; ++i) {
      sums[{block.sizes[i].kind, block.sizes[i].bytes}] += block.sizes[i].count;
    }
  }
  for (const auto& [key, count] : sums) {
    out.request_sizes.push_back({key.first, signed_of(key.second), signed_of(count)});
  }
  out.other_requests = signed_of(group.sum(meter.other_requests()));
  out.short_transfers = signed_of(group.sum(meter.short_transfers()));
}

void merge_time_line(comm::Group& group, TimeLine& line, schema::PhaseFinished& out) {
  line.widen_to(group.maximum(line.width_ns()));
  std::vector<std::uint64_t> flat;
  for (const TimeLine::Bin& bin : line.bins()) {
    flat.insert(flat.end(), {bin.bytes_written, bin.bytes_read, bin.operations});
  }
  group.reduce(flat, Reduction::kSum);
  while (flat.size() >= 3 && flat.back() == 0 && flat[flat.size() - 2] == 0 &&
         flat[flat.size() - 3] == 0) {
    flat.resize(flat.size() - 3);
  }
  out.time_line.bin_s = base::seconds(line.width_ns());
  for (std::size_t i = 0; i < flat.size(); i += 3) {
    out.time_line.bytes_written.push_back(signed_of(flat[i]));
    out.time_line.bytes_read.push_back(signed_of(flat[i + 1]));
    out.time_line.operations.push_back(signed_of(flat[i + 2]));
  }
}

template <std::size_t kSize>
void copy_text(std::string_view text, std::array<char, kSize>& out) {
  std::memcpy(out.data(), text.data(), std::min(text.size(), kSize - 1));
}

void merge_faults(comm::Group& group, const Meter& meter, schema::PhaseFinished& out) {
  FaultBlock mine;
  for (const Fault& fault : meter.faults()) {
    FaultBlock::Item& item = mine.items[mine.used++];
    item.kind = fault.kind;
    item.error = fault.error;
    item.offset = fault.offset;
    item.at_ns = fault.at_ns;
    copy_text(fault.path, item.path);
    copy_text(fault.what, item.what);
  }
  const std::vector<FaultBlock> blocks = group.gather(mine);
  std::vector<std::pair<std::uint64_t, schema::ErrorDetail>> all;
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    for (std::size_t i = 0; i < blocks[rank].used; ++i) {
      const FaultBlock::Item& item = blocks[rank].items[i];
      all.push_back({item.at_ns,
                     {.rank = signed_of(rank),
                      .operation = item.kind,
                      .path = item.path.data(),
                      .offset = signed_of(item.offset),
                      .errno_ = item.error,
                      .what = item.what.data()}});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < std::min(all.size(), Meter::kFaults); ++i) {
    out.details.push_back(std::move(all[i].second));
  }
}

}  // namespace

schema::PhaseFinished merge(comm::Group& group, Meter& meter, const Span& span,
                            std::int64_t& first_start_ns) {
  schema::PhaseFinished out;
  fill_ranks(group.gather(block_of(meter, span)), out, first_start_ns);
  merge_kinds(group, meter, out);
  merge_sizes(group, meter, out);
  merge_time_line(group, meter.time_line(), out);
  // The sum of errors is the same on all ranks, so they agree on whether to exchange details.
  if (out.errors > 0) merge_faults(group, meter, out);
  return out;
}

}  // namespace venturi::measure

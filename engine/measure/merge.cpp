// Merging over the ranks: sums and extremes by reduction, one small block per rank by gathering.
#include "measure/merge.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
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
  std::uint64_t wait_ns = 0;
  std::uint64_t serving_ns = 0;
  /// When the first and the last operation ended, after the rank's start.
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t longest_ns = 0;
};

/// What a rank says about one error; trivially copyable, longer texts are cut.
struct FaultBlock {
  /// On rank 0's clock.
  std::int64_t at_ns = 0;
  OperationKind kind{};
  int error = 0;
  std::uint64_t rank = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  /// 0: none, else the damage's number and 1.
  std::uint64_t damage = 0;
  std::array<char, 256> path{};
  std::array<char, 256> what{};
};

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::uint64_t ns_of(const Meter& meter, std::initializer_list<OperationKind> kinds) {
  std::uint64_t sum = 0;
  for (const OperationKind kind : kinds) sum += meter.tally(kind).ns;
  return sum;
}

RankBlock block_of(const Meter& meter, const Span& span) {
  using enum OperationKind;
  const auto after_start = [&](std::uint64_t ns) {
    return ns > span.own_start_ns ? ns - span.own_start_ns : 0;
  };
  std::uint64_t longest_ns = 0;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    longest_ns =
        std::max(longest_ns, meter.tally(static_cast<OperationKind>(kind)).latency.max_ns());
  }
  return {.span = span,
          .bytes = meter.bytes(),
          .operations = meter.operations(),
          .open_ns = ns_of(meter, {kOpen, kCreate, kMkdir}),
          .transfer_ns = ns_of(meter, {kWrite, kRead, kSync}),
          .close_ns = ns_of(meter, {kClose}),
          .compute_ns = meter.compute_ns(),
          .wait_ns = meter.wait_ns(),
          .serving_ns = meter.serving_ns(),
          .first_ns = after_start(meter.first_ns()),
          .last_ns = after_start(meter.last_ns()),
          .longest_ns = longest_ns};
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
    const double start_s = seconds_between(first_start_ns, block.span.start_ns);
    out.per_rank.start_s.push_back(start_s);
    out.per_rank.first_s.push_back(start_s + base::seconds(block.first_ns));
    out.per_rank.last_s.push_back(start_s + base::seconds(block.last_ns));
    out.per_rank.longest_s.push_back(base::seconds(block.longest_ns));
    out.seconds.compute = std::max(out.seconds.compute, base::seconds(block.compute_ns));
    out.seconds.wait = std::max(out.seconds.wait, base::seconds(block.wait_ns));
    out.seconds.serving = std::max(out.seconds.serving, base::seconds(block.serving_ns));
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

/// The histogram of all ranks. Rows that are empty everywhere are not exchanged.
schema::Histogram merge_histogram(comm::Group& group, const Histogram& mine) {
  const std::array<bool, Histogram::kRows> own = mine.rows();
  std::array<std::uint64_t, Histogram::kRows + 1> largest{};
  std::copy(own.begin(), own.end(), largest.begin());
  largest.back() = mine.max_ns();
  group.reduce(largest, Reduction::kMaximum);
  const std::uint64_t smallest = group.minimum(mine.min_ns());
  schema::Histogram out;
  out.bits = Histogram::kBits;
  std::vector<std::uint64_t> counts(Histogram::kRowBuckets);
  for (std::size_t row = 0; row < Histogram::kRows; ++row) {
    if (largest[row] == 0) continue;
    if (own[row]) {
      std::copy_n(mine.row(row).begin(), counts.size(), counts.begin());
    } else {
      std::fill(counts.begin(), counts.end(), 0);
    }
    group.reduce(counts, Reduction::kSum);
    append_row(row, counts, out);
  }
  if (out.bucket.empty()) return out;
  out.min_ns = signed_of(smallest);
  out.max_ns = signed_of(largest.back());
  return out;
}

void merge_kind(comm::Group& group, const Tally& tally, std::uint64_t errors, OperationKind kind,
                schema::PhaseFinished& out) {
  std::array<std::uint64_t, 2> sums{tally.bytes, tally.operations};
  group.reduce(sums, Reduction::kSum);
  const std::uint64_t longest = group.maximum(tally.ns);
  out.by_operation.push_back({.kind = kind,
                              .bytes = signed_of(sums[0]),
                              .operations = signed_of(sums[1]),
                              .errors = signed_of(errors),
                              .seconds = base::seconds(longest),
                              .latency = merge_histogram(group, tally.latency)});
}

void merge_kinds(comm::Group& group, const Meter& meter, schema::PhaseFinished& out) {
  std::array<std::uint64_t, 2 * kKinds> counts{};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const Tally& tally = meter.tally(static_cast<OperationKind>(kind));
    counts[kind] = tally.operations;
    counts[kKinds + kind] = tally.errors;
  }
  group.reduce(counts, Reduction::kSum);
  for (std::size_t index = 0; index < kKinds; ++index) {
    const auto kind = static_cast<OperationKind>(index);
    const std::uint64_t errors = counts[kKinds + index];
    out.errors += signed_of(errors);
    if (counts[index] + errors == 0) continue;
    merge_kind(group, meter.tally(kind), errors, kind, out);
  }
}

/// Sizes that ranks have, smallest first, one reduction each: no rank holds those of all others.
void merge_sizes(comm::Group& group, const Meter& meter, schema::PhaseFinished& out) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::vector<SizeCount> mine = meter.sizes();
  const auto key_of = [](const SizeCount& size) {
    return std::pair(size.bytes, static_cast<std::uint64_t>(size.kind));
  };
  std::sort(mine.begin(), mine.end(),
            [&](const SizeCount& a, const SizeCount& b) { return key_of(a) < key_of(b); });
  std::uint64_t other = meter.other_requests();
  std::size_t at = 0;
  while (out.request_sizes.size() < Meter::kSizes) {
    const std::uint64_t bytes = group.minimum(at < mine.size() ? mine[at].bytes : kNone);
    if (bytes == kNone) break;
    const bool same = at < mine.size() && mine[at].bytes == bytes;
    const std::uint64_t kind = group.minimum(same ? key_of(mine[at]).second : kNone);
    const bool hit = same && key_of(mine[at]).second == kind;
    const std::uint64_t count = group.sum(hit ? mine[at].count : 0);
    out.request_sizes.push_back(
        {static_cast<OperationKind>(kind), signed_of(bytes), signed_of(count)});
    at += static_cast<std::size_t>(hit);
  }
  for (; at < mine.size(); ++at) other += mine[at].count;
  std::sort(out.request_sizes.begin(), out.request_sizes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.kind, a.bytes) < std::pair(b.kind, b.bytes);
  });
  out.other_requests = signed_of(group.sum(other));
}

void merge_sums(comm::Group& group, const Meter& meter, schema::PhaseFinished& out) {
  std::array<std::uint64_t, 7> sums{
      meter.short_transfers(),    meter.durable_bytes(),
      meter.corrupt_operations(), meter.corrupt_bytes(),
      meter.found().value_or(0),  static_cast<std::uint64_t>(meter.found().has_value()),
      meter.saved_bytes()};
  group.reduce(sums, Reduction::kSum);
  out.short_transfers = signed_of(sums[0]);
  out.bytes_durable = signed_of(sums[1]);
  out.corrupt_operations = signed_of(sums[2]);
  out.corrupt_bytes = signed_of(sums[3]);
  if (sums[5] > 0) out.found = signed_of(sums[4]);
  out.bytes_saved = signed_of(sums[6]);
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

/// Requests per second, in thousandths.
std::uint64_t milli_rate(std::uint64_t requests, std::uint64_t ns) {
  return ns == 0
             ? 0
             : static_cast<std::uint64_t>(static_cast<double>(requests) * 1e3 / base::seconds(ns));
}

void merge_open_loop(comm::Group& group, const OpenLoop& mine, schema::PhaseFinished& out) {
  std::array<std::uint64_t, 4> sums{mine.requests, mine.late,
                                    milli_rate(mine.requests, mine.wanted_ns),
                                    milli_rate(mine.requests, mine.took_ns)};
  group.reduce(sums, Reduction::kSum);
  if (sums[0] == 0) return;
  out.open_loop = schema::OpenLoop{.requests = signed_of(sums[0]),
                                   .late = signed_of(sums[1]),
                                   .most_late_s = base::seconds(group.maximum(mine.most_late_ns)),
                                   .wanted_per_s = static_cast<double>(sums[2]) / 1e3,
                                   .achieved_per_s = static_cast<double>(sums[3]) / 1e3,
                                   .response = merge_histogram(group, mine.response),
                                   .service = merge_histogram(group, mine.service)};
}

template <std::size_t kSize>
void copy_text(std::string_view text, std::array<char, kSize>& out) {
  std::memcpy(out.data(), text.data(), std::min(text.size(), kSize - 1));
}

FaultBlock block_of(const Fault& fault, std::size_t rank, std::int64_t at_ns) {
  FaultBlock block;
  block.at_ns = at_ns;
  block.kind = fault.kind;
  block.error = fault.error;
  block.rank = rank;
  block.offset = fault.offset;
  block.bytes = fault.bytes;
  block.damage = fault.damage ? static_cast<std::uint64_t>(*fault.damage) + 1 : 0;
  copy_text(fault.path, block.path);
  copy_text(fault.what, block.what);
  return block;
}

schema::ErrorDetail detail_of(const FaultBlock& block, std::int64_t first_start_ns) {
  const std::int64_t after_ns = std::max<std::int64_t>(0, block.at_ns - first_start_ns);
  schema::ErrorDetail detail{.rank = signed_of(block.rank),
                             .operation = block.kind,
                             .path = block.path.data(),
                             .offset = signed_of(block.offset),
                             .errno_ = block.error,
                             .what = block.what.data(),
                             .bytes = signed_of(block.bytes),
                             .at_s = base::seconds(static_cast<std::uint64_t>(after_ns))};
  if (block.damage > 0) detail.damage = static_cast<schema::Damage>(block.damage - 1);
  return detail;
}

/// Gives all ranks the block of one of them: the others add zeros.
FaultBlock share(comm::Group& group, const FaultBlock& block, bool is_mine) {
  std::array<std::uint64_t, (sizeof(FaultBlock) + 7) / 8> words{};
  if (is_mine) std::memcpy(words.data(), &block, sizeof block);
  group.reduce(words, Reduction::kSum);
  FaultBlock shared;
  std::memcpy(static_cast<void*>(&shared), words.data(), sizeof shared);
  return shared;
}

/// The first errors of all ranks, earliest first, one after the other: no rank holds those of all.
void merge_faults(comm::Group& group, const Meter& meter, const Span& span,
                  std::int64_t first_start_ns, schema::PhaseFinished& out) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::int64_t>::max();
  const std::vector<Fault>& mine = meter.faults();
  const std::int64_t offset_ns = span.start_ns - signed_of(span.own_start_ns);
  for (std::size_t at = 0; out.details.size() < Meter::kFaults;) {
    const bool has_more = at < mine.size();
    const std::int64_t own_ns = has_more ? signed_of(mine[at].at_ns) + offset_ns : 0;
    const std::uint64_t own =
        has_more ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, own_ns)) : kNone;
    const std::uint64_t earliest = group.minimum(own);
    if (earliest == kNone) return;
    const std::uint64_t rank = group.minimum(own == earliest ? group.rank() : kNone);
    const bool is_mine = rank == group.rank();
    const FaultBlock block =
        share(group, is_mine ? block_of(mine[at], group.rank(), own_ns) : FaultBlock{}, is_mine);
    out.details.push_back(detail_of(block, first_start_ns));
    at += static_cast<std::size_t>(is_mine);
  }
}

}  // namespace

schema::PhaseFinished merge(comm::Group& group, Meter& meter, const Span& span,
                            std::int64_t& first_start_ns) {
  schema::PhaseFinished out;
  fill_ranks(group.gather(block_of(meter, span)), out, first_start_ns);
  merge_kinds(group, meter, out);
  merge_sizes(group, meter, out);
  merge_sums(group, meter, out);
  merge_time_line(group, meter.time_line(), out);
  merge_open_loop(group, meter.open_loop(), out);
  // The sum of errors is the same on all ranks, so they agree on whether to exchange details.
  if (out.errors > 0) merge_faults(group, meter, span, first_start_ns, out);
  return out;
}

}  // namespace venturi::measure

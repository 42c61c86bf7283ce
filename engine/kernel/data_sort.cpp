// Sorting records by sample sort: each rank sorts its own, splitters are chosen from samples of
// all, and every rank gets the records between two of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/random.hpp"
#include "kernel/big_data.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& data_sort_description();
const Description& data_sort_description() {
  static const Description description = big_data_description(
      "sorting generated records of 100 bytes by keys of 8 bytes, on all ranks together", "500000");
  return description;
}

namespace {

constexpr std::size_t kRecordBytes = 100;
/// Samples of a rank from which splitters are chosen.
constexpr std::size_t kProbes = 128;

using Probes = std::array<std::uint64_t, kProbes>;

/// The key of a record, as its bytes are compared.
std::uint64_t key_at(const char* record) {
  std::uint64_t key = 0;
  for (std::size_t byte = 0; byte < sizeof key; ++byte) {
    key = (key << 8U) | static_cast<std::uint8_t>(record[byte]);
  }
  return key;
}

void append_record(std::uint64_t seed, std::uint64_t number, std::string& out) {
  const std::uint64_t key = base::combine(seed, number);
  std::string record;
  for (std::size_t byte = 0; byte < sizeof key; ++byte) {
    record += static_cast<char>(key >> (8 * (sizeof key - 1 - byte)));
  }
  record.append(reinterpret_cast<const char*>(&number), sizeof number);
  for (std::uint64_t word = 0; record.size() < kRecordBytes; ++word) {
    const std::uint64_t drawn = base::combine(key, word);
    record.append(reinterpret_cast<const char*>(&drawn),
                  std::min(sizeof drawn, kRecordBytes - record.size()));
  }
  out += record;
}

/// The records of a text in the order of their keys.
std::string sorted(std::string_view records) {
  struct Row {
    std::uint64_t key;
    std::uint64_t at;
  };
  std::vector<Row> rows;
  rows.reserve(records.size() / kRecordBytes);
  for (std::size_t at = 0; at < records.size(); at += kRecordBytes) {
    rows.push_back({key_at(records.data() + at), at});
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& one, const Row& other) { return one.key < other.key; });
  std::string found;
  found.reserve(records.size());
  for (const Row& row : rows) found.append(records.substr(row.at, kRecordBytes));
  return found;
}

/// Keys at equal distances of sorted records; of none, the largest key.
Probes probes_of(std::string_view records) {
  Probes probes;
  const std::size_t count = records.size() / kRecordBytes;
  for (std::size_t i = 0; i < kProbes; ++i) {
    const std::size_t at = (2 * i + 1) * count / (2 * kProbes);
    probes[i] = count == 0 ? ~std::uint64_t{0} : key_at(records.data() + at * kRecordBytes);
  }
  return probes;
}

/// The keys at which each rank but the first begins; the same on all ranks. Collective.
std::vector<std::uint64_t> splitters_of(comm::Group& group, const Probes& own) {
  std::vector<std::uint64_t> all;
  for (const Probes& probes : group.gather(own))
    all.insert(all.end(), probes.begin(), probes.end());
  std::sort(all.begin(), all.end());
  std::vector<std::uint64_t> splitters(group.size() - 1);
  for (std::size_t i = 0; i < splitters.size(); ++i) {
    if (group.rank() == 0) splitters[i] = all[(i + 1) * kProbes];
    group.broadcast(splitters[i]);
  }
  return splitters;
}

std::vector<std::string> split(std::string_view records,
                               const std::vector<std::uint64_t>& splitters) {
  std::vector<std::string> parts(splitters.size() + 1);
  std::size_t begin = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    std::size_t end = begin;
    while (end < records.size() &&
           (part == splitters.size() || key_at(records.data() + end) < splitters[part])) {
      end += kRecordBytes;
    }
    parts[part].assign(records.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

/// What a rank has: how many records, their sum in any order, and its first and last key.
struct Outcome {
  std::uint64_t records = 0;
  std::uint64_t sum = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

Outcome outcome_of(std::string_view records) {
  Outcome found;
  for (std::size_t at = 0; at < records.size(); at += kRecordBytes) {
    found.sum += base::key_of(records.substr(at, kRecordBytes));
    found.last = key_at(records.data() + at);
    if (found.records++ == 0) found.first = found.last;
  }
  return found;
}

void check_order(std::string_view records) {
  for (std::size_t at = kRecordBytes; at < records.size(); at += kRecordBytes) {
    if (key_at(records.data() + at - kRecordBytes) <= key_at(records.data() + at)) continue;
    throw wrong_value(
        fmt::format("data_sort: record {} of a rank is before the one behind it by its place, "
                    "but not by its key",
                    at / kRecordBytes - 1));
  }
}

/// On the first rank, of what all ranks have.
void check_whole(const std::vector<Outcome>& ranks, std::uint64_t records, std::uint64_t sum) {
  Outcome whole;
  for (const Outcome& one : ranks) {
    if (one.records == 0) continue;
    if (whole.records > 0 && one.first < whole.last) {
      throw wrong_value("data_sort: a rank begins with a smaller key than the rank before ends");
    }
    whole = {whole.records + one.records, whole.sum + one.sum, 0, one.last};
  }
  if (whole.records == records && whole.sum == sum) return;
  throw wrong_value(fmt::format("data_sort: {} records come out, of {}, or others than went in",
                                whole.records, records));
}

void measure(const Environment& environment, schema::KernelResult& out) {
  comm::Group& group = environment.group;
  BigData data(environment, "data_sort", [&](std::uint64_t number, std::string& records) {
    append_record(environment.seed, number, records);
  });
  std::string made;
  std::uint64_t sum = 0;
  for (std::uint64_t number = data.first(); number < data.last(); ++number) {
    made.clear();
    append_record(environment.seed, number, made);
    sum += base::key_of(made);
  }
  sum = group.sum(sum);
  std::uint64_t most = 0;
  data.sample(
      [&] {
        std::string own;
        Probes probes{};
        std::vector<std::string> parts;
        data.read();
        data.timed(Part::kCompute, [&] {
          own = sorted(data.input());
          probes = probes_of(own);
        });
        std::vector<std::uint64_t> splitters;
        data.talk([&] { splitters = splitters_of(group, probes); });
        data.timed(Part::kCompute, [&] { parts = split(own, splitters); });
        parts = data.exchanged(std::move(parts));
        data.timed(Part::kCompute, [&] {
          own.clear();
          for (const std::string& part : parts) own += part;
          own = sorted(own);
        });
        data.write(own);
        if (data.damages() && !own.empty()) own[kRecordBytes / 2] ^= 0x40;
        data.check([&] { check_order(own); });
        const std::vector<Outcome> all = group.gather(outcome_of(own));
        data.check([&] {
          if (group.rank() == 0) check_whole(all, data.records(), sum);
        });
        most = group.maximum(own.size() / kRecordBytes);
      },
      out);
  out.facts.push_back({"most records on a rank", std::to_string(most)});
  out.facts.push_back({"sum of the records", fmt::format("{:016x}", sum)});
}

}  // namespace

const Entry& data_sort_entry();
const Entry& data_sort_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel

// Files, exchanges and times of kernels of big data.
#include "kernel/big_data.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "backend/move_all.hpp"
#include "kernel/pairing.hpp"
#include "kernel/processor.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"

namespace venturi::kernel {
namespace {

constexpr std::array<const char*, 4> kParts{"read", "compute", "exchange", "write"};
/// One request to storage.
constexpr std::size_t kRequestBytes = std::size_t{1} << 20U;

base::Error storage_error(const std::string& what, int error) {
  return base::Error({.code = "kernel",
                      .message = fmt::format("{}: {}", what, std::strerror(error)),
                      .hint = "its files are in the run's directory: -d DIR",
                      .exit_code = base::kExitFailed});
}

/// Moves all bytes of a file by requests of at most kRequestBytes. Throws where that fails.
template <class Call>
void move(const Call& call, std::size_t bytes, const std::string& failed) {
  const int error = backend::move_all(
      [&](std::uint64_t done, std::uint64_t most) {
        return call(done, std::min<std::uint64_t>(most, kRequestBytes));
      },
      bytes);
  if (error != 0) throw storage_error(failed, error);
}

void write_all(int file, std::string_view data, const std::string& what) {
  move(
      [&](std::uint64_t done, std::uint64_t most) {
        return ::pwrite(file, data.data() + done, most, static_cast<off_t>(done));
      },
      data.size(), what + " cannot be written");
  if (::fdatasync(file) != 0) throw storage_error(what + " cannot be flushed", errno);
}

void read_all(int file, std::span<std::byte> data, const std::string& what) {
  move(
      [&](std::uint64_t done, std::uint64_t most) {
        return ::pread(file, data.data() + done, most, static_cast<off_t>(done));
      },
      data.size(), what + " cannot be read");
}

}  // namespace

Description big_data_description(const char* about, std::vector<backend::OptionInfo> own) {
  own.insert(own.end(), {{"samples", "integer", "3", "so many times", "1 to 1000", 1.0, 1000.0},
                         kRanksOption,
                         kDamageOption});
  return {
      .about = about,
      .likeness = "BigDataBench class",
      .figures = {{"process", "B/s", "bytes of the input in the time of all parts"},
                  {"read", "s", "the input from its file, on the slowest rank"},
                  {"compute", "s", "work on a rank's own data, on the slowest rank"},
                  {"exchange", "s", "what ranks hand to each other, on the slowest rank"},
                  {"write", "s", "the result to storage, with fdatasync, on the slowest rank"}},
      .options = std::move(own),
  };
}

Description big_data_description(const char* about, const char* records) {
  return big_data_description(
      about, {{"records", "integer", records, "so many records of all ranks together",
               "1 to 1000000000000", 1.0, 1e12}});
}

BigData::BigData(const Environment& environment, const std::string& name, const Input& input)
    : environment_(environment),
      name_(name),
      records_(input.records),
      first_(first_of(environment.group.rank())),
      last_(first_of(environment.group.rank() + 1)) {
  environment_.together([&] {
    std::string one;
    input.generate(0, one);
    check_memory(environment_.group,
                 input.copies * one.size() * (last_ - first_) + input.more_bytes, name_);
    std::string data;
    for (std::uint64_t record = first_; record < last_; ++record) {
      input.generate(record, data);
      if (record % 65536 == 0) environment_.tick();
    }
    input_ = environment_.make_file(name_ + ".input");
    output_ = environment_.make_file(name_ + ".output");
    write_all(input_.get(), data, name_ + ": its input");
    input_bytes_ = data.size();
    memory_.reserve(input_bytes_);
  });
}

bool BigData::damages() const { return environment_.settings.boolean("damage"); }

void BigData::begin() { environment_.group.start(environment_.clock); }

void BigData::end(Part part, std::uint64_t begin_ns) {
  taken_s_[static_cast<std::size_t>(part)] += base::seconds(environment_.clock.now_ns() - begin_ns);
}

void BigData::timed(Part part, const std::function<void()>& work) {
  environment_.tick();
  begin();
  environment_.together([&] {
    const std::uint64_t begin_ns = environment_.clock.now_ns();
    work();
    end(part, begin_ns);
  });
}

void BigData::read() {
  ::posix_fadvise(input_.get(), 0, 0, POSIX_FADV_DONTNEED);
  timed(Part::kRead,
        [&] { read_all(input_.get(), {memory_.data(), input_bytes_}, name_ + ": its input"); });
}

void BigData::write(std::string_view data) {
  timed(Part::kWrite, [&] {
    if (::ftruncate(output_.get(), 0) != 0) {
      throw storage_error(name_ + ": its result cannot be truncated", errno);
    }
    write_all(output_.get(), data, name_ + ": its result");
  });
}

void BigData::check(const std::function<void()>& compare) { environment_.together(compare); }

void BigData::talk(const std::function<void()>& calls) {
  begin();
  const std::uint64_t begin_ns = environment_.clock.now_ns();
  calls();
  end(Part::kExchange, begin_ns);
}

std::uint64_t BigData::summed(std::uint64_t value) {
  talk([&] { value = environment_.group.sum(value); });
  return value;
}

/// Both of a pair hand over what they have; the lower rank sends first.
void BigData::swap(std::size_t partner, std::string_view sent, std::span<char> received) {
  const auto out = std::as_bytes(std::span(sent));
  const auto in = std::as_writable_bytes(received);
  if (environment_.group.rank() < partner) {
    if (!out.empty()) environment_.group.send(partner, out);
    if (!in.empty()) environment_.group.receive(partner, in);
  } else {
    if (!in.empty()) environment_.group.receive(partner, in);
    if (!out.empty()) environment_.group.send(partner, out);
  }
}

void BigData::swapped(std::optional<std::uint64_t> partner, std::string_view sent,
                      std::span<char> received) {
  talk([&] {
    if (partner) swap(*partner, sent, received);
  });
}

std::vector<std::string> BigData::exchanged(std::vector<std::string> sent) {
  talk([&] { sent = handed(std::move(sent)); });
  return sent;
}

std::vector<std::string> BigData::handed(std::vector<std::string> sent) {
  const std::size_t ranks = environment_.group.size();
  const std::size_t rank = environment_.group.rank();
  std::vector<std::string> received(ranks);
  std::vector<std::uint64_t> sizes(ranks);
  for (std::uint64_t step = 0; step < pairing_steps(ranks); ++step) {
    const auto partner = partner_in(step, rank, ranks);
    if (!partner) continue;
    const std::uint64_t mine = sent[*partner].size();
    std::array<char, sizeof mine> theirs{};
    swap(*partner, bytes_of(std::span(&mine, 1)), theirs);
    std::memcpy(&sizes[*partner], theirs.data(), sizeof mine);
  }
  environment_.together([&] {
    for (std::size_t other = 0; other < ranks; ++other) received[other].resize(sizes[other]);
  });
  for (std::uint64_t step = 0; step < pairing_steps(ranks); ++step) {
    const auto partner = partner_in(step, rank, ranks);
    if (partner) swap(*partner, sent[*partner], received[*partner]);
  }
  received[rank] = std::move(sent[rank]);
  return received;
}

void BigData::sample(const std::function<void()>& one, schema::KernelResult& out,
                     const std::optional<CountedWork>& work) {
  const std::uint64_t all_bytes = environment_.group.sum(input_bytes_);
  const auto add = [&](const char* name, const char* unit, std::vector<double> samples) {
    schema::KernelSeries series =
        series_of(name, unit, schema::KernelStatistic::kMedian, {{"input", "B"}});
    series.points.push_back({.at = {static_cast<std::int64_t>(all_bytes)},
                             .samples = std::move(samples),
                             .figure = name});
    out.series.push_back(std::move(series));
  };
  std::vector<double> rates;
  std::array<std::vector<double>, kParts.size()> parts_s;
  std::vector<double> work_rates;
  for (std::uint64_t i = 0; i < environment_.settings.integer("samples"); ++i) {
    environment_.tick();
    taken_s_.fill(0.0);
    one();
    environment_.group.reduce(std::span(taken_s_), comm::Reduction::kMaximum);
    // A part that no rank has work in takes no less than the clock can tell.
    for (double& taken_s : taken_s_) taken_s = std::max(taken_s, 1e-9);
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      parts_s[part].push_back(taken_s_[part]);
    }
    const auto part_s = [&](Part part) { return taken_s_[static_cast<std::size_t>(part)]; };
    const double work_s = part_s(Part::kCompute) + part_s(Part::kExchange);
    rates.push_back(static_cast<double>(all_bytes) /
                    (work_s + part_s(Part::kRead) + part_s(Part::kWrite)));
    if (work) work_rates.push_back(work->amount / work_s);
  }
  add("process", "B/s", std::move(rates));
  for (std::size_t part = 0; part < kParts.size(); ++part) {
    add(kParts[part], "s", std::move(parts_s[part]));
  }
  if (work) add(work->figure, work->unit, std::move(work_rates));
  out.facts.push_back({"records", std::to_string(records_)});
  out.facts.push_back({"input, bytes", std::to_string(all_bytes)});
  out.facts.push_back({"caches", "the system was asked to forget the input before each read"});
}

}  // namespace venturi::kernel

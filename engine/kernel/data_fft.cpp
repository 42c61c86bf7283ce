// The Fourier transform of a square of complex numbers: each rank transforms its rows, the ranks
// transpose the square, and each transforms the rows that were columns.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.hpp"
#include "kernel/big_data.hpp"
#include "kernel/fourier.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"
#include "kernel/whole_entry.hpp"

namespace venturi::kernel {

const Description& data_fft_description();
const Description& data_fft_description() {
  static const Description description = [] {
    Description made = big_data_description(
        "the Fourier transform of a square of generated complex numbers, on all ranks together",
        {{"n", "word", "1024", "rows and columns of the square",
          "2|4|8|16|32|64|128|256|512|1024|2048|4096|8192|16384|32768|65536|131072"}});
    made.figures.push_back(
        {"transform", "flop/s", "5 N log2 N of N numbers in the time of compute and exchange"});
    return made;
  }();
  return description;
}

namespace {

/// Places of the result that are compared with sums by the definition.
constexpr std::size_t kPlaces = 4;
/// Of the largest entry and log2 N, in units of the rounding of doubles.
constexpr double kMostError = 16.0;
constexpr double kRounding = 0x1p-53;

Complex entry_of(std::uint64_t key, std::uint64_t at) {
  return {whole_entry(key, 2 * at), whole_entry(key, 2 * at + 1)};
}

/// The rows of one rank.
class Rows {
 public:
  explicit Rows(const BigData& data)
      : data_(&data),
        n_(data.records()),
        count_(data.last() - data.first()),
        values_(n_ * count_) {}

  [[nodiscard]] std::span<Complex> values() noexcept { return values_; }
  [[nodiscard]] std::span<Complex> row(std::size_t at) noexcept {
    return std::span(values_).subspan(at * n_, n_);
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  /// What each rank gets when the square is transposed: of its rows the columns that are here.
  [[nodiscard]] std::vector<std::string> parts() const {
    std::vector<std::string> parts(data_->environment().group.size());
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      const std::size_t first = data_->first_of(rank);
      const std::size_t wide = data_->first_of(rank + 1) - first;
      parts[rank].resize(wide * count_ * sizeof(Complex));
      transpose_into(first, wide, parts[rank].data());
    }
    return parts;
  }
  /// Takes the parts of all ranks.
  void take(const std::vector<std::string>& parts) {
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      const std::size_t first = data_->first_of(rank);
      const std::size_t bytes = (data_->first_of(rank + 1) - first) * sizeof(Complex);
      if (bytes == 0) continue;
      for (std::size_t at = 0; at < count_; ++at) {
        std::memcpy(&values_[at * n_ + first], parts[rank].data() + at * bytes, bytes);
      }
    }
  }

 private:
  /// Tile by tile, so that a line of memory is used while it is in a cache.
  void transpose_into(std::size_t first, std::size_t wide, char* to) const {
    constexpr std::size_t kTile = 16;
    for (std::size_t column = 0; column < wide; column += kTile) {
      for (std::size_t row = 0; row < count_; row += kTile) {
        for (std::size_t j = column; j < std::min(column + kTile, wide); ++j) {
          for (std::size_t i = row; i < std::min(row + kTile, count_); ++i) {
            std::memcpy(to + (j * count_ + i) * sizeof(Complex), &values_[i * n_ + first + j],
                        sizeof(Complex));
          }
        }
      }
    }
  }

  const BigData* data_;
  std::size_t n_;
  std::size_t count_;
  std::vector<Complex> values_;
};

/// A number of the result, and what it is by the definition.
struct Place {
  std::size_t row, column;
  Complex wanted;
};

/// Sums over all numbers of the input, which are generated anew. The first place is (0, 0), where
/// the sum is one of whole numbers. Collective.
std::vector<Place> places_of(const BigData& data, std::uint64_t key) {
  const std::size_t n = data.records();
  const std::vector<Complex> roots = roots_of_unity(n);
  std::vector<Place> places(kPlaces);
  std::array<double, 2 * kPlaces> sums{};
  for (std::size_t place = 0; place < kPlaces; ++place) {
    if (place > 0) {
      places[place].row = base::uniform(key, 2 * place, n);
      places[place].column = base::uniform(key, 2 * place + 1, n);
    }
    Complex sum;
    for (std::size_t i = data.first(); i < data.last(); ++i) {
      Complex of_row;
      for (std::size_t j = 0; j < n; ++j) {
        of_row = of_row + entry_of(key, i * n + j) * roots[j * places[place].column % n];
      }
      sum = sum + of_row * roots[i * places[place].row % n];
    }
    sums[2 * place] = sum.re;
    sums[2 * place + 1] = sum.im;
  }
  data.environment().group.reduce(std::span(sums), comm::Reduction::kSum);
  for (std::size_t place = 0; place < kPlaces; ++place) {
    places[place].wanted = {sums[2 * place], sums[2 * place + 1]};
  }
  return places;
}

/// Rows are columns of the result, as it is left and written.
void check_places(const BigData& data, Rows& rows, const std::vector<Place>& places) {
  const double numbers = static_cast<double>(data.records()) * static_cast<double>(data.records());
  const double most = 1e-9 * static_cast<double>(kMostEntry) * std::sqrt(numbers);
  for (const Place& place : places) {
    if (place.column < data.first() || place.column >= data.last()) continue;
    const Complex found = rows.row(place.column - data.first())[place.row];
    const Complex off = found - place.wanted;
    if (std::hypot(off.re, off.im) <= most) continue;
    throw wrong_value(
        fmt::format("data_fft: the result at {}, {} is {:.17g} + {:.17g} i, by the "
                    "definition {:.17g} + {:.17g} i",
                    place.row, place.column, found.re, found.im, place.wanted.re, place.wanted.im));
  }
}

/// Transforms the result back, and compares it with the input, which is generated anew; returns
/// the largest error of all ranks, scaled. Collective.
double check_inverse(BigData& data, Rows& rows, Fourier& fourier, std::uint64_t key) {
  const std::size_t n = data.records();
  const auto inverse = [&] {
    for (std::size_t at = 0; at < rows.count(); ++at) fourier.inverse(rows.row(at));
  };
  std::vector<std::string> parts;
  data.check([&] {
    inverse();
    parts = rows.parts();
  });
  parts = data.handed(std::move(parts));
  const double unit = kRounding * static_cast<double>(kMostEntry) * 2.0 *
                      static_cast<double>(std::bit_width(n) - 1);
  double error = 0.0;
  data.check([&] {
    rows.take(parts);
    inverse();
    for (std::size_t at = 0; at < rows.values().size(); ++at) {
      const Complex off = rows.values()[at] - entry_of(key, data.first() * n + at);
      const double one = std::hypot(off.re, off.im) / unit;
      error = one <= error ? error : one;
      if (one <= kMostError) continue;
      throw wrong_value(
          fmt::format("data_fft: transformed back, row {} has a scaled error of {:.3g}, more than "
                      "{}",
                      data.first() + at / n, one, kMostError));
    }
  });
  data.environment().group.reduce(std::span(&error, 1), comm::Reduction::kMaximum);
  return error;
}

/// Over rows in any order.
std::uint64_t sum_of(const BigData& data, Rows& rows) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < rows.count(); ++at) {
    const std::span<const Complex> row = rows.row(at);
    sum += base::combine(base::key_of(bytes_of(row)), data.first() + at);
  }
  return data.environment().group.sum(sum);
}

/// Reads, transforms and writes the square once; its rows are then columns of the result.
void transform(BigData& data, Rows& rows, Fourier& fourier) {
  const auto forward = [&] {
    for (std::size_t at = 0; at < rows.count(); ++at) fourier.forward(rows.row(at));
  };
  std::vector<std::string> parts;
  data.read();
  data.timed(Part::kCompute, [&] {
    std::copy_n(data.input().data(), data.input().size(),
                reinterpret_cast<char*>(rows.values().data()));
    forward();
    parts = rows.parts();
  });
  parts = data.exchanged(std::move(parts));
  data.timed(Part::kCompute, [&] {
    rows.take(parts);
    forward();
  });
  data.write(bytes_of(std::span<const Complex>(rows.values())));
}

void measure(const Environment& environment, schema::KernelResult& out) {
  const std::size_t n = std::stoull(environment.settings.word("n"));
  const std::uint64_t key = base::combine(environment.seed, base::key_of("square"));
  const auto generate = [&](std::uint64_t row, std::string& text) {
    for (std::size_t j = 0; j < n; ++j) {
      const Complex entry = entry_of(key, row * n + j);
      text += bytes_of(std::span(&entry, 1));
    }
  };
  BigData data(environment, "data_fft", {n, generate});
  std::optional<Rows> rows;
  std::optional<Fourier> fourier;
  environment.together([&] {
    rows.emplace(data);
    fourier.emplace(n);
  });
  const std::vector<Place> places = places_of(data, key);
  std::uint64_t sum = 0;
  double error = 0.0;
  const double numbers = static_cast<double>(n) * static_cast<double>(n);
  data.sample(
      [&] {
        transform(data, *rows, *fourier);
        sum = sum_of(data, *rows);
        if (data.damages() && rows->count() > 0) rows->row(0)[n / 2].re += 1.0;
        data.check([&] { check_places(data, *rows, places); });
        error = check_inverse(data, *rows, *fourier, key);
      },
      out, CountedWork{"transform", "flop/s", 5.0 * numbers * std::log2(numbers)});
  out.facts.push_back({"transform", "Venturi's own, of radix 4 and 2; no library"});
  out.facts.push_back({"sum of the input, real and imaginary",
                       fmt::format("{}, {}", places[0].wanted.re, places[0].wanted.im)});
  out.facts.push_back({"sum of the result's columns", fmt::format("{:016x}", sum)});
  out.facts.push_back({"scaled error after the way back", fmt::format("{:.3g}", error)});
}

}  // namespace

const Entry& data_fft_entry();
const Entry& data_fft_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel

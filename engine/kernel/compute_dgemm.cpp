// Multiplication of matrices, checked against the product with one vector.
#include <fmt/format.h>

#include <vector>

#include "base/random.hpp"
#include "kernel/matrix_product.hpp"
#include "kernel/memory_loops.hpp"
#include "kernel/processor.hpp"
#include "kernel/rank_times.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"
#include "kernel/whole_entry.hpp"

namespace venturi::kernel {

const Description& compute_dgemm_description();
const Description& compute_dgemm_description() {
  static const Description description{
      .about = "multiplication of matrices of doubles, one product on each rank",
      .likeness = "DGEMM class",
      .figures = {{"multiply", "flop/s", "of all ranks that measure together"}},
      .options = {{"n", "integer", "1024", "rows and columns of each matrix", "1 to 32768", 1.0,
                   32768.0},
                  {"samples", "integer", "5", "so many samples, after one that does not count",
                   "1 to 1000", 1.0, 1000.0},
                  kRanksOption,
                  kDamageOption},
  };
  return description;
}

namespace {

void fill_whole(std::vector<double>& matrix, std::uint64_t key) {
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = whole_entry(key, i);
}

std::vector<double> times_vector(const std::vector<double>& matrix, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += matrix[i + j * y.size()] * x[j];
  }
  return y;
}

/// The matrices of one rank.
struct Factors {
  std::size_t n;
  std::vector<double> a, b, c;

  Factors(std::size_t size, std::uint64_t key) : n(size), a(n * n), b(n * n), c(n * n) {
    fill_whole(a, base::combine(key, 1));
    fill_whole(b, base::combine(key, 2));
  }
  /// After `times` products were added, c v must be exactly so many times a (b v), for a v that
  /// does not depend on how the product is computed (Freivalds, 1977).
  void check(std::uint64_t times) const {
    std::vector<double> v(n);
    fill_whole(v, base::key_of("compute_dgemm"));
    const std::vector<double> found = times_vector(c, v);
    const std::vector<double> once = times_vector(a, times_vector(b, v));
    for (std::size_t i = 0; i < n; ++i) {
      const double wanted = static_cast<double>(times) * once[i];
      if (found[i] == wanted) continue;
      throw wrong_value(
          fmt::format("compute_dgemm: row {} of the product times a vector is "
                      "{:.17g}, not {:.17g}",
                      i, found[i], wanted));
    }
  }
};

void measure(const Environment& environment, schema::KernelResult& out) {
  const Pinned pinned(environment.group);
  const std::size_t n = environment.settings.integer("n");
  out.facts.push_back({"instructions", memory_loops().level});
  out.facts.push_back({"multiplication", "Venturi's own, of blocks; no BLAS library"});
  std::optional<Factors> factors;
  std::optional<MatrixProduct> product;
  environment.together([&] {
    check_memory(environment.group, 3 * n * n * sizeof(double), "compute_dgemm");
    factors.emplace(n, base::combine(environment.seed, environment.group.rank()));
    product.emplace();
  });
  const Work work = [&](std::uint64_t repeats) {
    for (std::uint64_t i = 0; i < repeats; ++i) {
      product->add({factors->c.data(), n}, 1.0, {factors->a.data(), n}, {factors->b.data(), n}, n,
                   n, n);
    }
  };
  const std::uint64_t samples = environment.settings.integer("samples");
  RankTimes times;
  std::vector<double> taken_s = times.slowest_seconds(environment, samples + 1, 1, work);
  taken_s.erase(taken_s.begin());
  times.forget_first();
  if (environment.settings.boolean("damage")) factors->c[n * n / 2] += 1.0;
  environment.together([&] { factors->check(samples + 1); });
  schema::KernelSeries series =
      series_of("multiply", "flop/s", schema::KernelStatistic::kMax, {{"rows", ""}});
  schema::KernelPoint point;
  point.at = {static_cast<std::int64_t>(n)};
  point.figure = "multiply";
  const double cube = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  for (const double one_s : taken_s) {
    point.samples.push_back(2.0 * cube * static_cast<double>(out.ranks) / one_s);
  }
  series.points.push_back(std::move(point));
  out.series.push_back(std::move(series));
  times.note(environment, out);
}

}  // namespace

const Entry& compute_dgemm_entry();
const Entry& compute_dgemm_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel

// Conjugate gradients with a multigrid preconditioner on a grid over all ranks, and the tests
// without which their speed is no number.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/random.hpp"
#include "kernel/multigrid.hpp"
#include "kernel/processor.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/sampling.hpp"
#include "kernel/table.hpp"

namespace venturi::kernel {

const Description& compute_cg_description();
const Description& compute_cg_description() {
  constexpr const char* kSides = "16|24|32|40|48|56|64|80|96|104|128|160|192|256|512";
  static const Description description{
      .about = "conjugate gradients with a multigrid preconditioner on sparse rows",
      .likeness = "HPCG class",
      .figures = {{"iterate", "flop/s", "one system on all ranks that measure"},
                  {"sum", "s", "one sum over all ranks, as each dot product needs it"}},
      .options = {{"nx", "word", "32", "points of a rank along x", kSides},
                  {"ny", "word", "32", "points of a rank along y", kSides},
                  {"nz", "word", "32", "points of a rank along z", kSides},
                  {"least_s", "real", "0",
                   "sets of 50 iterations go on for so long, in seconds; at least one", "0 to 7200",
                   0.0, 7200.0},
                  kRanksOption,
                  kDamageOption},
  };
  return description;
}

namespace {

constexpr int kLevels = 4;
constexpr int kIterations = 50;
/// The greatest sum of all values of a row.
constexpr double kNorm = 52.0;
/// Bytes of a row on all levels: at most 27 values and columns, and vectors.
constexpr std::uint64_t kRowBytes = 600;
/// Between the residual that the iterations carry along and that of their solution.
constexpr double kMostDifference = 1e-10;

/// One system, its vectors, and the time that its sums took.
struct Solver {
  const Environment& environment;
  GridLevel& grid;
  std::vector<double> x, p, z, r, product;
  double sums_s = 0.0;
  std::uint64_t sums = 0;

  Solver(const Environment& around, GridLevel& level)
      : environment(around),
        grid(level),
        x(grid.vector()),
        p(grid.vector()),
        z(grid.vector()),
        r(grid.vector()),
        product(grid.vector()) {}

  double dot_of(const std::vector<double>& one, const std::vector<double>& other) {
    double sum = 0.0;
    for (std::size_t row = 0; row < grid.rows(); ++row) sum += one[row] * other[row];
    const std::uint64_t begin = environment.clock.now_ns();
    environment.group.reduce(std::span(&sum, 1), comm::Reduction::kSum);
    sums_s += base::seconds(environment.clock.now_ns() - begin);
    ++sums;
    return sum;
  }
  /// At most so many iterations from x = 0, until the residual is `tolerance` of the first one.
  /// How many there were, and what is left of the residual.
  struct Outcome {
    int iterations;
    double scaled_residual;
    double first;
  };
  Outcome iterate(const std::vector<double>& b, int most, double tolerance, bool preconditioned) {
    const std::size_t rows = grid.rows();
    std::fill(x.begin(), x.end(), 0.0);
    p = x;
    grid.multiply(p, product);
    for (std::size_t row = 0; row < rows; ++row) r[row] = b[row] - product[row];
    const double first = std::sqrt(dot_of(r, r));
    double norm = first;
    double r_z = 0.0;
    int done = 0;
    while (done < most && norm / first > tolerance) {
      environment.tick();
      if (preconditioned) {
        grid.cycle(r, z);
      } else {
        std::copy_n(r.begin(), rows, z.begin());
      }
      const double before = r_z;
      r_z = dot_of(r, z);
      const double beta = done == 0 ? 0.0 : r_z / before;
      for (std::size_t row = 0; row < rows; ++row) p[row] = z[row] + beta * p[row];
      grid.multiply(p, product);
      const double alpha = r_z / dot_of(p, product);
      for (std::size_t row = 0; row < rows; ++row) x[row] += alpha * p[row];
      for (std::size_t row = 0; row < rows; ++row) r[row] -= alpha * product[row];
      norm = std::sqrt(dot_of(r, r));
      ++done;
    }
    return {done, norm / first, first};
  }
  /// What is left of b - A x for the x that was found, as a share of the first residual.
  double true_residual(const std::vector<double>& b, double first) {
    grid.multiply(x, product);
    for (std::size_t row = 0; row < grid.rows(); ++row) z[row] = b[row] - product[row];
    return std::sqrt(dot_of(z, z)) / first;
  }
};

/// How the two tests of a system went, as text for the record.
struct Passed {
  std::string spectrum;
  std::string symmetry;
};

/// With diagonals that dominate, the eigenvalues come to few clusters, so that few iterations are
/// enough: at most 12, and 2 with the preconditioner.
std::string test_spectrum(Solver& solver, std::vector<double> b) {
  std::vector<double> before(solver.grid.rows());
  for (std::size_t row = 0; row < before.size(); ++row) {
    const std::int64_t number = solver.grid.global_row(row);
    const double scale = (number < 9 ? static_cast<double>(number + 2) : 1.0) * 1e6;
    before[row] = solver.grid.diagonal(row);
    solver.grid.diagonal(row) *= scale;
    b[row] *= scale;
  }
  std::string said;
  std::string wrong;
  for (const bool preconditioned : {false, true}) {
    const int most = preconditioned ? 2 : 12;
    const auto outcome = solver.iterate(b, kIterations, 1e-12, preconditioned);
    said += fmt::format("{}{}", said.empty() ? "" : " and ", outcome.iterations);
    if (outcome.iterations <= most && outcome.scaled_residual <= 1e-12) continue;
    wrong = fmt::format(
        "compute_cg: {} iterations {} preconditioner left {:.3g} of the residual; "
        "at most {} must leave less than 1e-12",
        outcome.iterations, preconditioned ? "with a" : "without", outcome.scaled_residual, most);
  }
  for (std::size_t row = 0; row < before.size(); ++row) solver.grid.diagonal(row) = before[row];
  solver.environment.together([&] {
    if (!wrong.empty()) throw wrong_value(wrong);
  });
  return said;
}

/// The operator and the preconditioner are symmetric: x' A y = y' A x but for rounding.
std::string test_symmetry(Solver& solver) {
  GridLevel& grid = solver.grid;
  const std::uint64_t key = base::combine(solver.environment.seed, base::key_of("compute_cg"));
  for (std::size_t row = 0; row < grid.rows(); ++row) {
    const auto number = static_cast<std::uint64_t>(grid.global_row(row));
    solver.x[row] = static_cast<double>(base::combine(key, 2 * number) >> 11U) * 0x1p-53;
    solver.p[row] = static_cast<double>(base::combine(key, 2 * number + 1) >> 11U) * 0x1p-53;
  }
  const double norms = solver.dot_of(solver.x, solver.x) * solver.dot_of(solver.p, solver.p);
  const double unit = 2.0 * kNorm * norms * std::numeric_limits<double>::epsilon();
  std::string said;
  for (const bool is_cycle : {false, true}) {
    const auto apply = [&](std::vector<double>& to) {
      if (is_cycle) {
        grid.cycle(to, solver.product);
      } else {
        grid.multiply(to, solver.product);
      }
    };
    apply(solver.p);
    const double x_a_y = solver.dot_of(solver.x, solver.product);
    apply(solver.x);
    const double y_a_x = solver.dot_of(solver.p, solver.product);
    const double departure = std::fabs(x_a_y - y_a_x) / unit;
    said += fmt::format("{}{:.2e}", said.empty() ? "" : " and ", departure);
    solver.environment.together([&] {
      if (departure < 1.0) return;
      throw wrong_value(
          fmt::format("compute_cg: the {} departs from symmetry by {:.3g}, not less "
                      "than 1",
                      is_cycle ? "preconditioner" : "operator", departure));
    });
  }
  return said;
}

/// Sets of iterations for as long as is wanted; the scaled residual of the last one.
double measure_sets(Solver& solver, const std::vector<double>& b, double operations,
                    schema::KernelPoint& rates, schema::KernelPoint& sums) {
  const Environment& environment = solver.environment;
  double residual = 0.0;
  double passed_s = 0.0;
  do {
    solver.sums_s = 0.0;
    solver.sums = 0;
    Solver::Outcome outcome{};
    const double taken_s = slowest_seconds(environment, 1, 1, [&](std::uint64_t) {
      outcome = solver.iterate(b, kIterations, 0.0, true);
    })[0];
    double sum_s = solver.sums_s / static_cast<double>(solver.sums);
    environment.group.reduce(std::span(&sum_s, 1), comm::Reduction::kMaximum);
    rates.samples.push_back(operations / taken_s);
    sums.samples.push_back(sum_s);
    const double found = solver.true_residual(b, outcome.first);
    environment.together([&] {
      const bool fits = std::fabs(found - outcome.scaled_residual) <= kMostDifference;
      const bool is_same = rates.samples.size() == 1 ||
                           std::fabs(residual - outcome.scaled_residual) <= 1e-6 * residual;
      if (fits && is_same) return;
      throw wrong_value(
          fmt::format("compute_cg: after {} iterations the residual is {:.6g}, that "
                      "of the solution {:.6g}, that of the set before {:.6g}",
                      kIterations, outcome.scaled_residual, found, residual));
    });
    residual = outcome.scaled_residual;
    passed_s += taken_s;
  } while (passed_s < environment.settings.real("least_s"));
  return residual;
}

/// Operations of one set, as HPCG counts them.
double operations_of_set(GridLevel& grid, comm::Group& group) {
  const auto rows = static_cast<double>(group.sum(grid.rows()));
  const double vectors = 2.0 * (3.0 * kIterations + 1.0) * 2.0 * rows;
  return vectors + (kIterations + 1.0) * grid.operations_of_multiply() +
         kIterations * grid.operations_of_cycle();
}

Triple points_of_rank(const Settings& settings) {
  Triple points{};
  const char* const names[] = {"nx", "ny", "nz"};
  for (std::size_t axis = 0; axis < 3; ++axis)
    points[axis] = std::stoll(settings.word(names[axis]));
  return points;
}

void measure(const Environment& environment, schema::KernelResult& out) {
  const Pinned pinned(environment.group);
  const RankGrid ranks = rank_grid(environment.group.size(), environment.group.rank());
  std::optional<GridLevel> grid;
  std::optional<Solver> solver;
  environment.together([&] {
    const Triple points = points_of_rank(environment.settings);
    const auto rows = static_cast<std::uint64_t>(points[0] * points[1] * points[2]);
    if (27 * rows > std::numeric_limits<std::uint32_t>::max()) {
      throw wrong_value(fmt::format("compute_cg: {} points are more than a rank can number", rows));
    }
    check_memory(environment.group, rows * kRowBytes, "compute_cg");
    grid.emplace(environment.group, ranks, points, kLevels);
    solver.emplace(environment, *grid);
  });
  if (environment.settings.boolean("damage")) grid->first_of(grid->rows() / 2) *= 1.5;
  const std::vector<double> b = grid->right_side();
  const Passed passed{test_spectrum(*solver, b), test_symmetry(*solver)};
  schema::KernelPoint rates;
  schema::KernelPoint sums;
  const double operations = operations_of_set(*grid, environment.group);
  const double residual = measure_sets(*solver, b, operations, rates, sums);
  rates.figure = "iterate";
  sums.figure = "sum";
  out.facts.push_back({"grid of ranks", fmt::format("{} x {} x {}", ranks.ranks[0], ranks.ranks[1],
                                                    ranks.ranks[2])});
  out.facts.push_back({"points of a rank", std::to_string(grid->rows())});
  out.facts.push_back({"operations of a set", fmt::format("{:.0f}", operations)});
  out.facts.push_back({"scaled residual after 50 iterations", fmt::format("{:.5e}", residual)});
  out.facts.push_back({"iterations of the spectral test", passed.spectrum});
  out.facts.push_back({"departure from symmetry", passed.symmetry});
  out.series.push_back(series_of("iterate", "flop/s", schema::KernelStatistic::kMedian, {}));
  out.series.back().points.push_back(std::move(rates));
  out.series.push_back(series_of("sum", "s", schema::KernelStatistic::kMedian, {}));
  out.series.back().points.push_back(std::move(sums));
}

}  // namespace

const Entry& compute_cg_entry();
const Entry& compute_cg_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel

// Sparse rows of a grid, the exchange of its layers, and the cycle through its levels.
#include "kernel/multigrid.hpp"

#include <algorithm>
#include <span>

namespace venturi::kernel {
namespace {

constexpr double kDiagonal = 26.0;

/// All points of a box from `low` to before `high`, x first.
template <class Visit>
void each_point(const Triple& low, const Triple& high, const Visit& visit) {
  for (std::int64_t z = low[2]; z < high[2]; ++z) {
    for (std::int64_t y = low[1]; y < high[1]; ++y) {
      for (std::int64_t x = low[0]; x < high[0]; ++x) visit(Triple{x, y, z});
    }
  }
}

}  // namespace

RankGrid rank_grid(std::size_t ranks, std::size_t rank) {
  RankGrid grid{{1, 1, 1}, {}};
  auto left = static_cast<std::int64_t>(ranks);
  std::vector<std::int64_t> primes;
  for (std::int64_t prime = 2; left > 1; ++prime) {
    for (; left % prime == 0; left /= prime) primes.push_back(prime);
  }
  // The largest factors first, each where there are fewest ranks.
  for (auto prime = primes.rbegin(); prime != primes.rend(); ++prime) {
    *std::min_element(grid.ranks.begin(), grid.ranks.end()) *= *prime;
  }
  std::sort(grid.ranks.rbegin(), grid.ranks.rend());
  auto number = static_cast<std::int64_t>(rank);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    grid.own[axis] = number % grid.ranks[axis];
    number /= grid.ranks[axis];
  }
  return grid;
}

GridLevel::GridLevel(comm::Group& group, const RankGrid& grid, const Triple& points, int levels)
    : group_(group), points_(points) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    global_points_[axis] = points[axis] * grid.ranks[axis];
    first_[axis] = points[axis] * grid.own[axis];
  }
  const Triple end{points[0] + 1, points[1] + 1, points[2] + 1};
  std::uint32_t row = 0;
  auto beside = static_cast<std::uint32_t>(points[0] * points[1] * points[2]);
  each_point({-1, -1, -1}, end, [&](const Triple& at) {
    bool is_here = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      is_here = is_here && at[axis] >= 0 && at[axis] < points_[axis];
    }
    places_.push_back(is_here ? row++ : beside++);
  });
  width_ = beside;
  make_rows();
  make_neighbours(grid);
  product_ = vector();
  if (levels > 1) make_coarse(grid, levels - 1);
  places_ = {};
}

std::uint32_t GridLevel::place_of(const Triple& at) const noexcept {
  const std::int64_t wide = points_[0] + 2;
  const std::int64_t high = points_[1] + 2;
  return places_[static_cast<std::size_t>(((at[2] + 1) * high + at[1] + 1) * wide + at[0] + 1)];
}

void GridLevel::make_rows() {
  const auto rows = static_cast<std::size_t>(points_[0] * points_[1] * points_[2]);
  begin_.reserve(rows + 1);
  diagonal_.reserve(rows);
  columns_.reserve(27 * rows);
  values_.reserve(27 * rows);
  each_point({0, 0, 0}, points_, [&](const Triple& at) { add_row(at); });
}

void GridLevel::add_row(const Triple& at) {
  Triple low{};
  Triple high{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t whole = first_[axis] + at[axis];
    low[axis] = at[axis] - (whole > 0 ? 1 : 0);
    high[axis] = at[axis] + (whole + 1 < global_points_[axis] ? 2 : 1);
  }
  each_point(low, high, [&](const Triple& other) {
    const bool is_diagonal = other == at;
    if (is_diagonal) diagonal_.push_back(static_cast<std::uint32_t>(values_.size()));
    columns_.push_back(place_of(other));
    values_.push_back(is_diagonal ? kDiagonal : -1.0);
  });
  begin_.push_back(static_cast<std::uint32_t>(values_.size()));
}

void GridLevel::make_neighbours(const RankGrid& grid) {
  std::int64_t step = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // The layers that earlier axes brought go on along this one.
    Triple low{};
    Triple high = points_;
    for (std::size_t done = 0; done < axis; ++done) {
      low[done] = -1;
      high[done] = points_[done] + 1;
    }
    // Pairs of neighbours of which the lower is even come first, so that nobody waits in a ring.
    for (const std::int64_t parity : {0, 1}) {
      const bool is_lower = grid.own[axis] % 2 == parity;
      const std::int64_t other = grid.own[axis] + (is_lower ? 1 : -1);
      if (other < 0 || other >= grid.ranks[axis]) continue;
      const auto partner = static_cast<std::size_t>(static_cast<std::int64_t>(group_.rank()) +
                                                    (is_lower ? step : -step));
      Neighbour neighbour{partner, {}, {}};
      const std::int64_t last = points_[axis];
      const auto add = [&](std::int64_t layer, std::vector<std::uint32_t>& places) {
        low[axis] = layer;
        high[axis] = layer + 1;
        each_point(low, high, [&](const Triple& at) { places.push_back(place_of(at)); });
      };
      add(is_lower ? last - 1 : 0, neighbour.give);
      add(is_lower ? last : -1, neighbour.take);
      neighbours_.push_back(std::move(neighbour));
    }
    step *= grid.ranks[axis];
  }
}

void GridLevel::make_coarse(const RankGrid& grid, int levels) {
  const Triple half{points_[0] / 2, points_[1] / 2, points_[2] / 2};
  each_point({0, 0, 0}, half, [&](const Triple& at) {
    fine_rows_.push_back(place_of({2 * at[0], 2 * at[1], 2 * at[2]}));
  });
  coarse_ = std::make_unique<GridLevel>(group_, grid, half, levels);
  coarse_r_ = coarse_->vector();
  coarse_x_ = coarse_->vector();
}

std::vector<double> GridLevel::right_side() const {
  std::vector<double> b = vector();
  for (std::size_t row = 0; row < rows(); ++row) {
    b[row] = kDiagonal - static_cast<double>(begin_[row + 1] - begin_[row] - 1);
  }
  return b;
}

std::int64_t GridLevel::global_row(std::size_t row) const noexcept {
  const auto number = static_cast<std::int64_t>(row);
  const std::int64_t x = first_[0] + number % points_[0];
  const std::int64_t y = first_[1] + number / points_[0] % points_[1];
  const std::int64_t z = first_[2] + number / (points_[0] * points_[1]);
  return (z * global_points_[1] + y) * global_points_[0] + x;
}

void GridLevel::exchange(std::vector<double>& x) {
  for (const Neighbour& neighbour : neighbours_) {
    out_.clear();
    for (const std::uint32_t place : neighbour.give) out_.push_back(x[place]);
    in_.resize(neighbour.take.size());
    // Of two neighbours the lower sends first.
    if (group_.rank() < neighbour.partner) {
      group_.send(neighbour.partner, std::as_bytes(std::span(out_)));
      group_.receive(neighbour.partner, std::as_writable_bytes(std::span(in_)));
    } else {
      group_.receive(neighbour.partner, std::as_writable_bytes(std::span(in_)));
      group_.send(neighbour.partner, std::as_bytes(std::span(out_)));
    }
    for (std::size_t i = 0; i < in_.size(); ++i) x[neighbour.take[i]] = in_[i];
  }
}

void GridLevel::multiply(std::vector<double>& x, std::vector<double>& y) {
  exchange(x);
  for (std::size_t row = 0; row < rows(); ++row) {
    double sum = 0.0;
    for (std::uint32_t at = begin_[row]; at < begin_[row + 1]; ++at) {
      sum += values_[at] * x[columns_[at]];
    }
    y[row] = sum;
  }
}

/// One symmetric sweep of Gauss and Seidel: each row once forwards and once backwards.
void GridLevel::smooth(const std::vector<double>& r, std::vector<double>& x) {
  exchange(x);
  const auto relax = [&](std::size_t row) {
    double sum = r[row];
    for (std::uint32_t at = begin_[row]; at < begin_[row + 1]; ++at) {
      sum -= values_[at] * x[columns_[at]];
    }
    const double on_diagonal = values_[diagonal_[row]];
    x[row] = (sum + x[row] * on_diagonal) / on_diagonal;
  };
  for (std::size_t row = 0; row < rows(); ++row) relax(row);
  for (std::size_t row = rows(); row-- > 0;) relax(row);
}

void GridLevel::cycle(const std::vector<double>& r, std::vector<double>& x) {
  std::fill(x.begin(), x.end(), 0.0);
  smooth(r, x);
  if (!coarse_) return;
  multiply(x, product_);
  for (std::size_t row = 0; row < fine_rows_.size(); ++row) {
    coarse_r_[row] = r[fine_rows_[row]] - product_[fine_rows_[row]];
  }
  coarse_->cycle(coarse_r_, coarse_x_);
  for (std::size_t row = 0; row < fine_rows_.size(); ++row) x[fine_rows_[row]] += coarse_x_[row];
  smooth(r, x);
}

double GridLevel::operations_of_multiply() {
  return 2.0 * static_cast<double>(group_.sum(entries()));
}

double GridLevel::operations_of_cycle() {
  const double sweep = 2.0 * operations_of_multiply();
  if (!coarse_) return sweep;
  return 2.0 * sweep + operations_of_multiply() + coarse_->operations_of_cycle();
}

}  // namespace venturi::kernel

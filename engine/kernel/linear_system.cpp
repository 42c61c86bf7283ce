// LU over the ranks: one factors a panel of columns, all apply it to theirs.
#include "kernel/linear_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/random.hpp"
#include "kernel/processor.hpp"

namespace venturi::kernel {
namespace {

/// Narrower panels and triangles are not halved any more.
constexpr std::size_t kNarrow = 8;

/// b = l^-1 b, where l is a lower triangle with ones on its diagonal.
void solve_lower(MatrixProduct& product, ConstMatrix l, std::size_t n, Matrix b,
                 std::size_t columns) {
  if (n > kNarrow) {
    const std::size_t half = n / 2;
    solve_lower(product, l, half, b, columns);
    product.add(b.from(half, 0), -1.0, l.from(half, 0), {b.at, b.stride}, n - half, columns, half);
    solve_lower(product, l.from(half, half), n - half, b.from(half, 0), columns);
    return;
  }
  for (std::size_t column = 0; column < columns; ++column) {
    double* x = b.from(0, column).at;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = j + 1; i < n; ++i) x[i] -= *l.from(i, j).at * x[j];
    }
  }
}

double largest(const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) {
    // `max` would lose it.
    if (std::isnan(value)) return value;
    most = std::max(most, std::fabs(value));
  }
  return most;
}

}  // namespace

LinearSystem::LinearSystem(const Environment& environment, std::uint64_t rows, std::uint64_t block)
    : environment_(environment),
      rows_(rows),
      block_(block),
      ranks_(environment.group.size()),
      rank_(environment.group.rank()),
      key_(base::combine(environment.seed, base::key_of("compute_lu"))),
      pivots_(block),
      x_(rows) {
  for (std::uint64_t column = 0; column <= rows; ++column) {
    if (owner_of(column) == rank_) columns_.push_back(column);
  }
  const std::uint64_t elements = rows * (columns_.size() + block);
  check_memory(environment.group, elements * sizeof(double), "compute_lu");
  values_.resize(rows * columns_.size());
  panel_.resize(rows * block);
}

std::size_t LinearSystem::place_of(std::uint64_t column) const noexcept {
  const auto found = std::lower_bound(columns_.begin(), columns_.end(), column);
  return static_cast<std::size_t>(found - columns_.begin());
}

double LinearSystem::entry(std::uint64_t row, std::uint64_t column) const noexcept {
  const std::uint64_t draw = base::combine(key_, column * rows_ + row) >> 11U;
  return 0.5 - static_cast<double>(draw) * 0x1p-53;
}

void LinearSystem::fill() {
  for (std::size_t place = 0; place < columns_.size(); ++place) {
    double* column = at(0, place).at;
    for (std::uint64_t row = 0; row < rows_; ++row) column[row] = entry(row, columns_[place]);
  }
}

void LinearSystem::solve() {
  for (std::uint64_t first = 0; first < rows_; first += block_) {
    environment_.tick();
    const std::size_t columns = std::min(block_, rows_ - first);
    const std::uint64_t high = rows_ - first;
    if (owner_of(first) == rank_) {
      const Matrix panel = at(first, place_of(first));
      factor(panel, first, 0, columns);
      for (std::size_t column = 0; column < columns; ++column) {
        std::copy_n(panel.from(0, column).at, high, &panel_[column * high]);
      }
    }
    pass_round(owner_of(first), pivots_.data(), columns * sizeof pivots_[0]);
    pass_round(owner_of(first), panel_.data(), columns * high * sizeof panel_[0]);
    update(first, columns);
  }
  substitute_back();
}

void LinearSystem::factor(Matrix panel, std::uint64_t first, std::size_t from,
                          std::size_t columns) {
  const std::size_t high = rows_ - first;
  const std::size_t end = from + columns;
  if (columns > kNarrow) {
    const std::size_t half = columns / 2;
    const std::size_t middle = from + half;
    factor(panel, first, from, half);
    const ConstMatrix l{panel.from(from, from).at, panel.stride};
    const Matrix right = panel.from(from, middle);
    for (std::size_t k = from; k < middle; ++k) {
      for (std::size_t column = middle; column < end; ++column) {
        std::swap(*panel.from(k, column).at, *panel.from(pivots_[k], column).at);
      }
    }
    solve_lower(product_, l, half, right, end - middle);
    product_.add(right.from(half, 0), -1.0, l.from(half, 0), {right.at, right.stride},
                 high - middle, end - middle, half);
    factor(panel, first, middle, columns - half);
    // What is left of the second half has its pivots, too.
    for (std::size_t k = middle; k < end; ++k) {
      for (std::size_t column = from; column < middle; ++column) {
        std::swap(*panel.from(k, column).at, *panel.from(pivots_[k], column).at);
      }
    }
    return;
  }
  for (std::size_t k = from; k < end; ++k) {
    choose_pivot(panel, high, k, {from, end});
    const double* factors = panel.from(0, k).at;
    for (std::size_t column = k + 1; column < end; ++column) {
      double* to = panel.from(0, column).at;
      for (std::size_t row = k + 1; row < high; ++row) to[row] -= factors[row] * to[k];
    }
  }
}

void LinearSystem::choose_pivot(Matrix panel, std::size_t high, std::size_t column,
                                std::pair<std::size_t, std::size_t> swapped) {
  double* values = panel.from(0, column).at;
  std::size_t pivot = column;
  for (std::size_t row = column + 1; row < high; ++row) {
    if (std::fabs(values[row]) > std::fabs(values[pivot])) pivot = row;
  }
  pivots_[column] = pivot;
  for (std::size_t other = swapped.first; other < swapped.second; ++other) {
    std::swap(*panel.from(column, other).at, *panel.from(pivot, other).at);
  }
  const double scale = 1.0 / values[column];
  for (std::size_t row = column + 1; row < high; ++row) values[row] *= scale;
}

void LinearSystem::update(std::uint64_t first, std::size_t columns) {
  const std::size_t place = place_of(first + columns);
  const std::size_t wide = columns_.size() - place;
  if (wide == 0) return;
  const std::size_t high = rows_ - first;
  const Matrix right = at(first, place);
  for (std::size_t column = 0; column < wide; ++column) {
    double* values = right.from(0, column).at;
    for (std::size_t k = 0; k < columns; ++k) std::swap(values[k], values[pivots_[k]]);
  }
  const ConstMatrix l{panel_.data(), high};
  solve_lower(product_, l, columns, right, wide);
  product_.add(right.from(columns, 0), -1.0, l.from(columns, 0), {right.at, right.stride},
               high - columns, wide, columns);
}

void LinearSystem::substitute_back() {
  std::size_t holder = owner_of(rows_);
  if (holder == rank_) std::copy_n(at(0, place_of(rows_)).at, rows_, x_.data());
  const std::uint64_t blocks = (rows_ + block_ - 1) / block_;
  for (std::uint64_t block = blocks; block-- > 0;) {
    const std::size_t owner = owner_of(block * block_);
    if (holder != owner) {
      if (rank_ == holder) environment_.group.send(owner, std::as_bytes(std::span(x_)));
      if (rank_ == owner) environment_.group.receive(holder, std::as_writable_bytes(std::span(x_)));
      holder = owner;
    }
    if (rank_ != owner) continue;
    const std::uint64_t end = std::min(rows_, (block + 1) * block_);
    for (std::uint64_t k = end; k-- > block * block_;) {
      const double* column = at(0, place_of(k)).at;
      x_[k] /= column[k];
      for (std::uint64_t row = 0; row < k; ++row) x_[row] -= column[row] * x_[k];
    }
  }
  pass_round(holder, x_.data(), rows_ * sizeof x_[0]);
}

double LinearSystem::scaled_residual() {
  std::vector<double> difference(rows_);
  std::vector<double> row_sums(rows_);
  std::vector<double> right(rows_);
  for (const std::uint64_t column : columns_) {
    for (std::uint64_t row = 0; row < rows_; ++row) {
      const double value = entry(row, column);
      if (column == rows_) {
        right[row] = value;
        difference[row] -= value;
      } else {
        difference[row] += value * x_[column];
        row_sums[row] += std::fabs(value);
      }
    }
  }
  for (std::vector<double>* sums : {&difference, &row_sums, &right}) {
    environment_.group.reduce(std::span(*sums), comm::Reduction::kSum);
  }
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2.0;
  return largest(difference) / (kEpsilon * (largest(row_sums) * largest(x_) + largest(right)) *
                                static_cast<double>(rows_));
}

void LinearSystem::pass_round(std::size_t root, void* data, std::size_t bytes) {
  const std::size_t place = (rank_ + ranks_ - root) % ranks_;
  const std::span all(static_cast<std::byte*>(data), bytes);
  if (place > 0) environment_.group.receive((rank_ + ranks_ - 1) % ranks_, all);
  if (place + 1 < ranks_) environment_.group.send((rank_ + 1) % ranks_, all);
}

}  // namespace venturi::kernel

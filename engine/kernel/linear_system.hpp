// A dense system of linear equations whose columns are spread over the ranks of a group.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/matrix_product.hpp"

namespace venturi::kernel {

/// A x = b with entries in (-0.5, 0.5] that depend on the seed and their place alone, so they are
/// made again for the check. Blocks of `block` columns go round the ranks: HPL's grid of 1 x ranks.
class LinearSystem {
 public:
  /// Throws base::Error where the memory of the node is less. Not collective.
  LinearSystem(const Environment& environment, std::uint64_t rows, std::uint64_t block);

  /// Makes the matrix, and b as one more column. Not collective.
  void fill();
  /// LU with pivots by rows, then back substitution; every rank has x then. Collective.
  void solve();
  /// |A x - b| / (eps (|A| |x| + |b|) n) with largest norms: HPL's residual. Collective.
  [[nodiscard]] double scaled_residual();
  /// x, for whoever wants to spoil it.
  [[nodiscard]] std::vector<double>& solution() noexcept { return x_; }

 private:
  [[nodiscard]] std::size_t owner_of(std::uint64_t column) const noexcept {
    return column / block_ % ranks_;
  }
  /// Of the columns here, the first that is `column` or comes after it.
  [[nodiscard]] std::size_t place_of(std::uint64_t column) const noexcept;
  [[nodiscard]] double entry(std::uint64_t row, std::uint64_t column) const noexcept;
  [[nodiscard]] Matrix at(std::uint64_t row, std::size_t place) noexcept {
    return {&values_[row + place * rows_], rows_};
  }
  /// Factors `columns` columns of a panel from its column `from` on, in halves; the panel begins at
  /// row `first`, and pivots are rows of it.
  void factor(Matrix panel, std::uint64_t first, std::size_t from, std::size_t columns);
  /// Brings the largest entry of a column of `high` rows to its diagonal, swapping rows of the
  /// columns `swapped`, and divides what is below by it.
  void choose_pivot(Matrix panel, std::size_t high, std::size_t column,
                    std::pair<std::size_t, std::size_t> swapped);
  void update(std::uint64_t first, std::size_t columns);
  void substitute_back();
  /// From `root` on to all others, one after another.
  void pass_round(std::size_t root, void* data, std::size_t bytes);

  const Environment& environment_;
  std::uint64_t rows_;
  std::uint64_t block_;
  std::size_t ranks_;
  std::size_t rank_;
  std::uint64_t key_;
  /// The global numbers of the columns here, ascending.
  std::vector<std::uint64_t> columns_;
  std::vector<double> values_;
  std::vector<double> panel_;
  std::vector<std::uint64_t> pivots_;
  std::vector<double> x_;
  MatrixProduct product_;
};

}  // namespace venturi::kernel

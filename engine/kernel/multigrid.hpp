// A sparse system on a grid that is spread over ranks, and a multigrid cycle as its preconditioner.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernel/kernel.hpp"

namespace venturi::kernel {

/// Three numbers, along x, y and z.
using Triple = std::array<std::int64_t, 3>;

/// Where a rank is in the grid of ranks.
struct RankGrid {
  Triple ranks;
  Triple own;
};
/// As near to a cube as the prime factors of the number of ranks allow, largest along x.
[[nodiscard]] RankGrid rank_grid(std::size_t ranks, std::size_t rank);

/// One level of the grid: the 27-point operator, 26 on its diagonal and -1 beside it, in explicit
/// sparse rows. Vectors have this rank's rows first, then what the neighbours' rows are.
class GridLevel {
 public:
  /// `levels` of them, each of half the points in each direction. Throws std::bad_alloc.
  GridLevel(comm::Group& group, const RankGrid& grid, const Triple& points, int levels);

  [[nodiscard]] std::size_t rows() const noexcept { return begin_.size() - 1; }
  [[nodiscard]] std::size_t entries() const noexcept { return values_.size(); }
  /// A vector that may be multiplied, with room for the neighbours' rows.
  [[nodiscard]] std::vector<double> vector() const { return std::vector<double>(width_); }
  /// b = A 1, without computing it: what is exact for the solution 1.
  [[nodiscard]] std::vector<double> right_side() const;
  /// The number of a row in the whole grid.
  [[nodiscard]] std::int64_t global_row(std::size_t row) const noexcept;
  /// The value on the diagonal of a row, and those of the row.
  [[nodiscard]] double& diagonal(std::size_t row) noexcept { return values_[diagonal_[row]]; }
  [[nodiscard]] double& first_of(std::size_t row) noexcept { return values_[begin_[row]]; }

  /// y = A x; gets the neighbours' rows of x first. Collective.
  void multiply(std::vector<double>& x, std::vector<double>& y);
  /// One V cycle for A x = r from x = 0. Collective.
  void cycle(const std::vector<double>& r, std::vector<double>& x);
  /// Floating-point operations of a product and of a cycle, over all ranks. Collective.
  [[nodiscard]] double operations_of_multiply();
  [[nodiscard]] double operations_of_cycle();

 private:
  /// Rows that one neighbour gets, and where those come that it gives.
  struct Neighbour {
    std::size_t partner;
    std::vector<std::uint32_t> give;
    std::vector<std::uint32_t> take;
  };

  void make_rows();
  void add_row(const Triple& at);
  void make_neighbours(const RankGrid& grid);
  void make_coarse(const RankGrid& grid, int levels);
  /// Where a point is in vectors; the layer around this rank's box is at -1 and at its size.
  [[nodiscard]] std::uint32_t place_of(const Triple& at) const noexcept;
  void exchange(std::vector<double>& x);
  void smooth(const std::vector<double>& r, std::vector<double>& x);

  comm::Group& group_;
  Triple points_;
  Triple global_points_;
  Triple first_;
  std::size_t width_;
  /// Of the box with its layer: where each point is in vectors.
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> begin_{0};
  std::vector<std::uint32_t> columns_;
  std::vector<double> values_;
  std::vector<std::uint32_t> diagonal_;
  /// In the order of the exchange: along x, then y with what came along x, then z.
  std::vector<Neighbour> neighbours_;
  std::vector<double> out_;
  std::vector<double> in_;
  /// The level below, and the rows here on which its rows are.
  std::unique_ptr<GridLevel> coarse_;
  std::vector<std::uint32_t> fine_rows_;
  std::vector<double> product_;
  std::vector<double> coarse_r_;
  std::vector<double> coarse_x_;
};

}  // namespace venturi::kernel

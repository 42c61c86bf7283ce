// Packing blocks of matrices and multiplying their tiles.
#include "kernel/matrix_product.hpp"

#include <algorithm>
#include <array>

#include "kernel/memory_loops.hpp"

namespace venturi::kernel {
namespace {

/// A block of the left matrix fits into half of a second-level cache of 1 MiB, one of the right
/// matrix into a last-level one. They are multiples of all tiles.
constexpr std::size_t kInner = 256;
constexpr std::size_t kRows = 240;
constexpr std::size_t kColumns = 1024;
constexpr std::size_t kMostTile = 24 * 8;

}  // namespace

MatrixProduct::MatrixProduct() {
  left_.reserve(kRows * kInner * sizeof(double));
  right_.reserve(kColumns * kInner * sizeof(double));
}

void MatrixProduct::add(Matrix c, double factor, ConstMatrix a, ConstMatrix b, std::size_t rows,
                        std::size_t columns, std::size_t inner) {
  for (std::size_t column = 0; column < columns; column += kColumns) {
    const std::size_t wide = std::min(kColumns, columns - column);
    for (std::size_t k = 0; k < inner; k += kInner) {
      const std::size_t deep = std::min(kInner, inner - k);
      pack_right(b.from(k, column), wide, deep);
      for (std::size_t row = 0; row < rows; row += kRows) {
        const std::size_t high = std::min(kRows, rows - row);
        pack_left(a.from(row, k), factor, high, deep);
        add_block(c.from(row, column), high, wide, deep);
      }
    }
  }
}

void MatrixProduct::pack_left(ConstMatrix a, double factor, std::size_t rows, std::size_t inner) {
  const std::size_t tile = memory_loops().tile_rows;
  auto* to = reinterpret_cast<double*>(left_.data());
  for (std::size_t row = 0; row < rows; row += tile) {
    const std::size_t high = std::min(tile, rows - row);
    for (std::size_t k = 0; k < inner; ++k, to += tile) {
      const double* from = a.from(row, k).at;
      for (std::size_t i = 0; i < high; ++i) to[i] = factor * from[i];
      std::fill(to + high, to + tile, 0.0);
    }
  }
}

void MatrixProduct::pack_right(ConstMatrix b, std::size_t columns, std::size_t inner) {
  const std::size_t tile = memory_loops().tile_columns;
  auto* to = reinterpret_cast<double*>(right_.data());
  for (std::size_t column = 0; column < columns; column += tile, to += tile * inner) {
    const std::size_t wide = std::min(tile, columns - column);
    for (std::size_t j = 0; j < tile; ++j) {
      const double* from = b.from(0, column + std::min(j, wide - 1)).at;
      for (std::size_t k = 0; k < inner; ++k) to[k * tile + j] = j < wide ? from[k] : 0.0;
    }
  }
}

void MatrixProduct::add_block(Matrix c, std::size_t rows, std::size_t columns, std::size_t inner) {
  const MemoryLoops& loops = memory_loops();
  const auto* left = reinterpret_cast<const double*>(left_.data());
  const auto* right = reinterpret_cast<const double*>(right_.data());
  for (std::size_t column = 0; column < columns; column += loops.tile_columns) {
    const double* of_columns = right + column * inner;
    for (std::size_t row = 0; row < rows; row += loops.tile_rows) {
      const double* of_rows = left + row * inner;
      const Matrix at = c.from(row, column);
      const std::size_t high = std::min(loops.tile_rows, rows - row);
      const std::size_t wide = std::min(loops.tile_columns, columns - column);
      if (high == loops.tile_rows && wide == loops.tile_columns) {
        loops.multiply_tile(at.at, at.stride, of_rows, of_columns, inner);
        continue;
      }
      // A tile at the edge is made beside the matrix.
      std::array<double, kMostTile> edge{};
      loops.multiply_tile(edge.data(), loops.tile_rows, of_rows, of_columns, inner);
      for (std::size_t j = 0; j < wide; ++j) {
        for (std::size_t i = 0; i < high; ++i) {
          *at.from(i, j).at += edge[i + j * loops.tile_rows];
        }
      }
    }
  }
}

}  // namespace venturi::kernel

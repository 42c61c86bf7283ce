// Products of matrices of doubles, which are stored by columns.
#pragma once

#include <cstddef>

#include "base/buffer.hpp"

namespace venturi::kernel {

/// A part of a matrix: `at[row + column * stride]`.
template <class Value>
struct MatrixPart {
  Value* at;
  std::size_t stride;

  [[nodiscard]] MatrixPart from(std::size_t row, std::size_t column) const noexcept {
    return {at + row + column * stride, stride};
  }
};
using Matrix = MatrixPart<double>;
using ConstMatrix = MatrixPart<const double>;

/// Our own multiplication: blocks that fit into caches are packed, and tiles of them multiplied in
/// registers (Goto and van de Geijn, 2008).
class MatrixProduct {
 public:
  /// Throws std::bad_alloc.
  MatrixProduct();

  /// c += factor * a * b; c has `rows` and `columns`, a has `inner` columns.
  void add(Matrix c, double factor, ConstMatrix a, ConstMatrix b, std::size_t rows,
           std::size_t columns, std::size_t inner);

 private:
  void pack_left(ConstMatrix a, double factor, std::size_t rows, std::size_t inner);
  void pack_right(ConstMatrix b, std::size_t columns, std::size_t inner);
  void add_block(Matrix c, std::size_t rows, std::size_t columns, std::size_t inner);

  base::Buffer left_;
  base::Buffer right_;
};

}  // namespace venturi::kernel

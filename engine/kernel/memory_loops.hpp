// Loops over doubles, in arrays, registers and tiles of matrices, compiled for several levels of
// instructions.
#pragma once

#include <cstddef>

namespace venturi::kernel {

/// Counts of elements are multiples of so many, and arrays are aligned to 64 bytes.
inline constexpr std::size_t kLoopElements = 64;

/// The loops for one level of instructions; `n` are elements.
struct MemoryLoops {
  const char* level;
  void (*fill)(double* a, double q, std::size_t n);
  void (*copy)(double* b, const double* a, std::size_t n);
  void (*scale)(double* b, const double* a, double q, std::size_t n);
  void (*add)(double* c, const double* a, const double* b, std::size_t n);
  /// c = a + q * b.
  void (*triad)(double* c, const double* a, const double* b, double q, std::size_t n);
  /// b += q * a.
  void (*daxpy)(double* b, const double* a, double q, std::size_t n);
  /// By eight vectors of partial sums, so that it does not wait for additions.
  double (*sum)(const double* a, std::size_t n);
  /// `n` rounds of multiplying and adding in registers, in chains that do not wait for each other.
  double (*multiply_add)(double q, std::size_t n);
  /// Floating-point operations of one round; a multiplication and an addition are two.
  double operations_per_round;
  /// Adds the product of `n` columns of `tile_rows` by `n` rows of `tile_columns` to a tile, whose
  /// columns are `stride` apart. `left` has its columns and `right` its rows one after another;
  /// `left` is aligned to 64 bytes.
  void (*multiply_tile)(double* tile, std::size_t stride, const double* left, const double* right,
                        std::size_t n);
  std::size_t tile_rows;
  std::size_t tile_columns;
};

/// The best ones that this processor has.
const MemoryLoops& memory_loops();

}  // namespace venturi::kernel

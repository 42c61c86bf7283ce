// Transforms of rows beside sums by the definition, and the way back.
#include "kernel/fourier.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernel/whole_entry.hpp"

namespace venturi::kernel {
namespace {

std::vector<Complex> some_row(std::size_t n) {
  std::vector<Complex> row(n);
  for (std::size_t i = 0; i < n; ++i) row[i] = {whole_entry(n, 2 * i), whole_entry(n, 2 * i + 1)};
  return row;
}

double distance(Complex a, Complex b) { return std::hypot(a.re - b.re, a.im - b.im); }

TEST(Fourier, IsTheSumOfItsDefinition) {
  for (std::size_t n = 1; n <= 512; n *= 2) {
    const std::vector<Complex> given = some_row(n);
    std::vector<Complex> found = given;
    Fourier(n).forward(found);
    for (std::size_t k = 0; k < n; ++k) {
      Complex sum;
      for (std::size_t j = 0; j < n; ++j) {
        const double angle =
            -2.0 * 3.14159265358979323846 * static_cast<double>(j * k % n) / static_cast<double>(n);
        sum = sum + given[j] * Complex{std::cos(angle), std::sin(angle)};
      }
      EXPECT_LT(distance(found[k], sum), 1e-12 * static_cast<double>(n + 8)) << n << " " << k;
    }
  }
}

TEST(Fourier, WaveHasOneValue) {
  constexpr std::size_t kLength = 64;
  constexpr std::size_t kWaves = 5;
  const std::vector<Complex> roots = roots_of_unity(kLength);
  std::vector<Complex> row(kLength);
  for (std::size_t j = 0; j < kLength; ++j) {
    const Complex root = roots[j * kWaves % kLength];
    row[j] = {root.re, -root.im};  // exp(+2 pi i j 5 / 64)
  }
  Fourier(kLength).forward(row);
  for (std::size_t k = 0; k < kLength; ++k) {
    EXPECT_LT(distance(row[k], {k == kWaves ? 64.0 : 0.0, 0.0}), 1e-12) << k;
  }
}

TEST(Fourier, TransformsBack) {
  for (std::size_t n = 1; n <= 4096; n *= 2) {
    const std::vector<Complex> given = some_row(n);
    std::vector<Complex> row = given;
    Fourier fourier(n);
    fourier.forward(row);
    fourier.inverse(row);
    for (std::size_t j = 0; j < n; ++j) EXPECT_LT(distance(row[j], given[j]), 1e-13) << n;
  }
}

}  // namespace
}  // namespace venturi::kernel

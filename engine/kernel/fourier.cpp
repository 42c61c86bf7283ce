// Stockham's transform by radix 4 and 2 (Van Loan, Computational Frameworks for the Fast Fourier
// Transform, 1992).
#include "kernel/fourier.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace venturi::kernel {
namespace {

/// One step of radix 4 for `stride` transforms of length `n` whose numbers lie side by side.
void quarter(std::size_t n, std::size_t stride, const std::vector<Complex>& roots,
             const Complex* from, Complex* to) {
  const std::size_t part = n / 4 * stride;
  for (std::size_t p = 0; p < n / 4; ++p) {
    const Complex first = roots[p * stride];
    const Complex second = roots[2 * p * stride];
    const Complex third = roots[3 * p * stride];
    const Complex* in = from + p * stride;
    Complex* out = to + 4 * p * stride;
    for (std::size_t q = 0; q < stride; ++q) {
      const Complex even = in[q] + in[q + 2 * part];
      const Complex even_less = in[q] - in[q + 2 * part];
      const Complex odd = in[q + part] + in[q + 3 * part];
      const Complex odd_less = in[q + part] - in[q + 3 * part];
      const Complex turned{odd_less.im, -odd_less.re};  // by -i
      out[q] = even + odd;
      out[q + stride] = (even_less + turned) * first;
      out[q + 2 * stride] = (even - odd) * second;
      out[q + 3 * stride] = (even_less - turned) * third;
    }
  }
}

/// The last step where it is one of radix 2.
void half(std::size_t stride, const Complex* from, Complex* to) {
  for (std::size_t q = 0; q < stride; ++q) {
    to[q] = from[q] + from[q + stride];
    to[q + stride] = from[q] - from[q + stride];
  }
}

}  // namespace

std::vector<Complex> roots_of_unity(std::size_t n) {
  std::vector<Complex> roots(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots[k] = {std::cos(angle), std::sin(angle)};
  }
  return roots;
}

Fourier::Fourier(std::size_t n) : roots_(roots_of_unity(n)), other_(n) {}

void Fourier::forward(std::span<Complex> row) {
  Complex* from = row.data();
  Complex* to = other_.data();
  std::size_t left = row.size();
  std::size_t stride = 1;
  for (; left >= 4; left /= 4, stride *= 4) {
    quarter(left, stride, roots_, from, to);
    std::swap(from, to);
  }
  if (left == 2) {
    half(stride, from, to);
    std::swap(from, to);
  }
  if (from != row.data()) std::copy(other_.begin(), other_.end(), row.begin());
}

void Fourier::inverse(std::span<Complex> row) {
  // The conjugate of the transform of the conjugates.
  const double scale = 1.0 / static_cast<double>(row.size());
  for (Complex& value : row) value.im = -value.im;
  forward(row);
  for (Complex& value : row) value = {value.re * scale, -value.im * scale};
}

}  // namespace venturi::kernel

// The discrete Fourier transform of rows of complex numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace venturi::kernel {

/// A complex number as it lies in memory and in files.
struct Complex {
  double re = 0.0;
  double im = 0.0;

  friend constexpr Complex operator+(Complex a, Complex b) noexcept {
    return {a.re + b.re, a.im + b.im};
  }
  friend constexpr Complex operator-(Complex a, Complex b) noexcept {
    return {a.re - b.re, a.im - b.im};
  }
  friend constexpr Complex operator*(Complex a, Complex b) noexcept {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// exp(-2 pi i k / n) for each k below n.
[[nodiscard]] std::vector<Complex> roots_of_unity(std::size_t n);

/// Our own transform: Stockham's sorting of indices while it goes, in steps of radix 4 and, where
/// the length asks for it, one of radix 2. It needs no library and is not as quick as one.
class Fourier {
 public:
  /// Of rows of `n` numbers, a power of two. Throws std::bad_alloc.
  explicit Fourier(std::size_t n);

  /// X(k) = sum of x(j) exp(-2 pi i j k / n), in place of x.
  void forward(std::span<Complex> row);
  /// x(j) = 1/n sum of X(k) exp(2 pi i j k / n), in place of X.
  void inverse(std::span<Complex> row);

 private:
  std::vector<Complex> roots_;
  std::vector<Complex> other_;
};

}  // namespace venturi::kernel

// Checked integers, Python's floor division, and the functions of the HPC trade.
#include "pattern/arithmetic.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/random.hpp"
#include "pattern/permutation.hpp"

namespace venturi::pattern {
namespace {

using schema::Operator;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

[[noreturn]] void fail(const char* what) { throw std::domain_error(what); }
[[noreturn]] void overflow() { fail("the integer does not fit into 64 bits"); }

Value finite(double value) {
  if (!std::isfinite(value)) fail("the real number is not finite");
  return value;
}

std::int64_t whole(const Value& value) {
  if (value.is_real()) fail("an integer is needed, but this is a real number");
  return value.integer();
}

std::int64_t positive(const Value& value) {
  const std::int64_t number = whole(value);
  if (number <= 0) fail("a positive integer is needed");
  return number;
}

std::int64_t not_negative(const Value& value) {
  const std::int64_t number = whole(value);
  if (number < 0) fail("an integer of at least 0 is needed");
  return number;
}

std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) overflow();
  return sum;
}

std::int64_t subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) overflow();
  return difference;
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) overflow();
  return product;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) fail("division by zero");
  if (a == kLowest && b == -1) overflow();
  const std::int64_t quotient = a / b;
  return quotient - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) fail("division by zero");
  if (b == -1) return 0;
  const std::int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// Python's float_divmod: the remainder has the divisor's sign, and the quotient is derived from it
// so that both agree.
struct RealDivision {
  double quotient;
  double remainder;
};

RealDivision real_divide(double a, double b) {
  if (b == 0.0) fail("division by zero");
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0.0) {
    if ((b < 0.0) != (remainder < 0.0)) {
      remainder += b;
      quotient -= 1.0;
    }
  } else {
    remainder = std::copysign(0.0, b);
  }
  if (quotient == 0.0) return {std::copysign(0.0, a / b), remainder};
  const double floored = std::floor(quotient);
  return {quotient - floored > 0.5 ? floored + 1.0 : floored, remainder};
}

Value power(const Value& base, const Value& exponent) {
  if (base.is_real() || exponent.is_real() || exponent.integer() < 0) {
    if (base.is_zero() && exponent.real() < 0) fail("division by zero");
    return finite(std::pow(base.real(), exponent.real()));
  }
  std::int64_t result = 1;
  std::int64_t factor = base.integer();
  for (std::int64_t left = exponent.integer(); left > 0; left /= 2) {
    if (left % 2 == 1) result = multiply(result, factor);
    if (left > 1) factor = multiply(factor, factor);
  }
  return result;
}

Value to_integer(double value) {
  // 2^63 is exact as a real number; the greatest integer is not.
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) overflow();
  return static_cast<std::int64_t>(value);
}

std::int64_t isqrt(std::int64_t n) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (root > 0 && root > n / root) --root;
  while (root + 1 <= n / (root + 1)) ++root;
  return root;
}

std::int64_t ceil_to(std::int64_t x, std::int64_t m) {
  const std::int64_t rest = modulo(x, m);
  return rest == 0 ? x : add(x, m - rest);
}

/// ScaLAPACK's NUMROC with source process 0: the local part of n elements dealt in blocks of nb.
std::int64_t numroc(std::span<const Value> operands) {
  const std::int64_t n = not_negative(operands[0]);
  const std::int64_t nb = positive(operands[1]);
  const std::int64_t process = not_negative(operands[2]);
  const std::int64_t processes = positive(operands[3]);
  if (process >= processes) fail("the process is beyond the number of processes");
  const std::int64_t blocks = n / nb;
  const std::int64_t extra = blocks % processes;
  const std::int64_t local = blocks / processes * nb;
  if (process < extra) return add(local, nb);
  return process == extra ? local + n % nb : local;
}

std::int64_t block(std::span<const Value> operands) {
  const std::int64_t n = not_negative(operands[0]);
  const std::int64_t parts = positive(operands[1]);
  const std::int64_t part = not_negative(operands[2]);
  if (part >= parts) fail("the part is beyond the number of parts");
  return n / parts + static_cast<std::int64_t>(part < n % parts);
}

Value skew(std::span<const Value> operands) {
  const std::int64_t rank = not_negative(operands[0]);
  const std::int64_t ranks = positive(operands[1]);
  const double factor = operands[2].real();
  if (rank >= ranks) fail("the rank is beyond the number of ranks");
  if (factor < 1.0) fail("the factor of skew must be at least 1");
  if (ranks == 1) return 1.0;
  const double spread =
      1.0 + (factor - 1.0) * static_cast<double>(rank) / static_cast<double>(ranks - 1);
  return finite(spread * 2.0 / (1.0 + factor));
}

/// The places of `permute` and `draw` are chosen by a key of 64 bits.
std::int64_t permute(std::span<const Value> operands) {
  const std::int64_t index = not_negative(operands[0]);
  const std::int64_t size = positive(operands[1]);
  if (index >= size) fail("the index is beyond the size of the permutation");
  const Permutation order(static_cast<std::uint64_t>(size),
                          static_cast<std::uint64_t>(whole(operands[2])));
  return static_cast<std::int64_t>(order(static_cast<std::uint64_t>(index)));
}

std::int64_t draw(std::span<const Value> operands) {
  const std::int64_t index = not_negative(operands[0]);
  const std::int64_t size = positive(operands[1]);
  const auto key = static_cast<std::uint64_t>(whole(operands[2]));
  return static_cast<std::int64_t>(
      base::uniform(key, static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(size)));
}

Value ternary(Operator op, std::span<const Value> operands) {
  switch (op) {
    case Operator::kBlock:
      return block(operands);
    case Operator::kPermute:
      return permute(operands);
    case Operator::kDraw:
      return draw(operands);
    default:
      return skew(operands);
  }
}

Value unary(Operator op, const Value& a) {
  switch (op) {
    case Operator::kNegate:
      return a.is_real() ? Value(-a.real()) : Value(subtract(0, a.integer()));
    case Operator::kNot:
      return static_cast<std::int64_t>(a.is_zero());
    case Operator::kCeil:
      return a.is_real() ? to_integer(std::ceil(a.real())) : a;
    case Operator::kFloor:
      return a.is_real() ? to_integer(std::floor(a.real())) : a;
    case Operator::kIsqrt:
      return isqrt(not_negative(a));
    default:
      if (a.real() <= 0.0) fail("log2 needs a positive number");
      return std::log2(a.real());
  }
}

Value arithmetic_integer(Operator op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Operator::kAdd:
      return add(a, b);
    case Operator::kSubtract:
      return subtract(a, b);
    case Operator::kMultiply:
      return multiply(a, b);
    case Operator::kFloorDivide:
      return floor_divide(a, b);
    default:
      return modulo(a, b);
  }
}

Value arithmetic_real(Operator op, double a, double b) {
  switch (op) {
    case Operator::kAdd:
      return finite(a + b);
    case Operator::kSubtract:
      return finite(a - b);
    case Operator::kMultiply:
      return finite(a * b);
    case Operator::kFloorDivide:
      return finite(real_divide(a, b).quotient);
    default:
      return finite(real_divide(a, b).remainder);
  }
}

template <class Number>
bool holds(Operator op, Number a, Number b) {
  switch (op) {
    case Operator::kLess:
      return a < b;
    case Operator::kLessEqual:
      return a <= b;
    case Operator::kGreater:
      return a > b;
    case Operator::kGreaterEqual:
      return a >= b;
    case Operator::kEqual:
      return a == b;
    default:
      return a != b;
  }
}

bool compare(Operator op, const Value& a, const Value& b) {
  const bool integers = !a.is_real() && !b.is_real();
  return integers ? holds(op, a.integer(), b.integer()) : holds(op, a.real(), b.real());
}

Value binary(Operator op, const Value& a, const Value& b) {
  switch (op) {
    case Operator::kAdd:
    case Operator::kSubtract:
    case Operator::kMultiply:
    case Operator::kFloorDivide:
    case Operator::kModulo:
      if (a.is_real() || b.is_real()) return arithmetic_real(op, a.real(), b.real());
      return arithmetic_integer(op, a.integer(), b.integer());
    case Operator::kDivide:
      if (b.is_zero()) fail("division by zero");
      return finite(a.real() / b.real());
    case Operator::kPower:
      return power(a, b);
    case Operator::kMinimum:
      return compare(Operator::kLess, b, a) ? b : a;
    case Operator::kMaximum:
      return compare(Operator::kGreater, b, a) ? b : a;
    case Operator::kCeilTo:
      return ceil_to(whole(a), positive(b));
    default:
      return static_cast<std::int64_t>(compare(op, a, b));
  }
}

}  // namespace

std::size_t arity(Operator op) {
  switch (op) {
    case Operator::kNegate:
    case Operator::kNot:
    case Operator::kCeil:
    case Operator::kFloor:
    case Operator::kIsqrt:
    case Operator::kLog2:
    case Operator::kJumpIfFalse:
      return 1;
    case Operator::kBlock:
    case Operator::kSkew:
    case Operator::kPermute:
    case Operator::kDraw:
      return 3;
    case Operator::kNumroc:
      return 4;
    case Operator::kInteger:
    case Operator::kReal:
    case Operator::kVariable:
    case Operator::kJump:
      return 0;
    default:
      return 2;
  }
}

Value apply_operator(Operator op, std::span<const Value> operands) {
  switch (operands.size()) {
    case 1:
      return unary(op, operands[0]);
    case 2:
      return binary(op, operands[0], operands[1]);
    case 3:
      return ternary(op, operands);
    default:
      return numroc(operands);
  }
}

}  // namespace venturi::pattern

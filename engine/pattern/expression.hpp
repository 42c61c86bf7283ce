// Numbers of a plan: evaluates the postfix expressions that the planner compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pattern/neighbour.hpp"
#include "schema/plan.hpp"

namespace venturi::pattern {

/// An integer or a real number; comparisons and `not` give the integers 0 and 1.
class Value {
 public:
  Value() = default;
  Value(std::int64_t integer) : integer_(integer) {}   // NOLINT: a number is a value
  Value(double real) : real_(real), is_real_(true) {}  // NOLINT: a number is a value
  [[nodiscard]] bool is_real() const noexcept { return is_real_; }
  [[nodiscard]] std::int64_t integer() const noexcept { return integer_; }
  /// The number as a real one; integers beyond 2^53 are rounded.
  [[nodiscard]] double real() const noexcept {
    return is_real_ ? real_ : static_cast<double>(integer_);
  }
  [[nodiscard]] bool is_zero() const noexcept { return is_real_ ? real_ == 0.0 : integer_ == 0; }

 private:
  std::int64_t integer_ = 0;
  double real_ = 0.0;
  bool is_real_ = false;
};

/// The values of what every expression may read and of the loops, by slot.
using Slots = std::vector<Value>;

/// Checks what can be checked once: slots exist, jumps go forward and not beyond the end.
/// Throws base::Error (exit 2) at `where`.
void validate(const schema::Expression& code, std::size_t slots, const std::string& where);

/// Whether the expression reads one of the slots.
bool reads_slot(const schema::Expression& code, std::span<const std::size_t> slots);

/// A stack machine. Integers are checked 64-bit numbers, division is real, `//` and `%` are
/// Python's; an integer and a real number are compared as real numbers. It ends because jumps
/// only go forward.
class Evaluator {
 public:
  /// Which ranks share a node; without it, all do.
  void set_neighbours(Neighbours neighbours) { neighbours_ = std::move(neighbours); }

  /// Throws base::Error (exit 2) at `where`: overflow, division by zero, a number that is not
  /// finite, too few operands.
  Value value(const schema::Expression& code, const Slots& slots, const char* where);
  /// The same for a number that must be an integer; a real number with a whole value is one.
  std::int64_t integer(const schema::Expression& code, const Slots& slots, const char* where);
  /// The same for an integer that must not be negative.
  std::uint64_t count(const schema::Expression& code, const Slots& slots, const char* where);
  /// The same for a number of seconds, which must not be negative.
  double seconds(const schema::Expression& code, const Slots& slots, const char* where);

 private:
  Value run(const schema::Expression& code, const Slots& slots);
  Value apply(schema::Operator op, std::span<const Value> operands) const;

  std::vector<Value> stack_;
  Neighbours neighbours_;
};

}  // namespace venturi::pattern

// Arithmetic is checked, and no expression reads what is not there.
#include "pattern/expression.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.hpp"

namespace venturi::pattern {
namespace {

using schema::Instruction;
using schema::Operator;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

Instruction number(std::int64_t value) { return {Operator::kInteger, value, 0.0}; }
Instruction real(double value) { return {Operator::kReal, 0, value}; }
Instruction op(Operator what, std::int64_t target = 0) { return {what, target, 0.0}; }

Value value(const schema::Expression& code, const Slots& slots = {}) {
  validate(code, slots.size(), "test");
  return Evaluator().value(code, slots, "test");
}

std::int64_t apply_to(Operator what, std::int64_t a, std::int64_t b) {
  const Value found = value({number(a), number(b), op(what)});
  EXPECT_FALSE(found.is_real());
  return found.integer();
}

TEST(Expression, FloorDivisionIsPythons) {
  for (const std::int64_t a : {-7, -6, 0, 6, 7}) {
    for (const std::int64_t b : {-3, 3}) {
      const std::int64_t quotient = apply_to(Operator::kFloorDivide, a, b);
      const std::int64_t remainder = apply_to(Operator::kModulo, a, b);
      EXPECT_EQ(quotient * b + remainder, a);
      EXPECT_TRUE(remainder == 0 || (remainder < 0) == (b < 0));
    }
  }
  EXPECT_EQ(apply_to(Operator::kModulo, kLeast, -1), 0);
  EXPECT_DOUBLE_EQ(value({real(-7.5), number(2), op(Operator::kModulo)}).real(), 0.5);
  EXPECT_DOUBLE_EQ(value({real(-7.5), number(2), op(Operator::kFloorDivide)}).real(), -4.0);
}

TEST(Expression, OverflowIsAnError) {
  const std::vector<schema::Expression> codes{
      {number(kMost), number(1), op(Operator::kAdd)},
      {number(kLeast), number(1), op(Operator::kSubtract)},
      {number(kMost), number(2), op(Operator::kMultiply)},
      {number(kLeast), op(Operator::kNegate)},
      {number(kLeast), number(-1), op(Operator::kFloorDivide)},
      {number(2), number(63), op(Operator::kPower)},
      {number(kMost), number(10), op(Operator::kCeilTo)},
      {real(1e300), op(Operator::kCeil)},
      {real(1e308), real(10.0), op(Operator::kMultiply)},
      {number(1), number(0), op(Operator::kDivide)},
      {number(1), number(0), op(Operator::kFloorDivide)},
      {real(1.0), number(0), op(Operator::kModulo)},
      {number(0), number(-1), op(Operator::kPower)},
      {number(-1), op(Operator::kIsqrt)},
      {number(0), op(Operator::kLog2)},
      {number(5), number(3), number(3), op(Operator::kBlock)},
  };
  for (const schema::Expression& code : codes) EXPECT_THROW(value(code), base::Error);
}

TEST(Expression, ExtremesAreExact) {
  EXPECT_EQ(apply_to(Operator::kPower, -2, 63), kLeast);
  EXPECT_EQ(apply_to(Operator::kPower, 2, 62), std::int64_t{1} << 62U);
  EXPECT_EQ(apply_to(Operator::kPower, -1, kMost), -1);
  EXPECT_EQ(value({number(kMost), op(Operator::kIsqrt)}).integer(), 3'037'000'499);
  EXPECT_EQ(apply_to(Operator::kCeilTo, -7, 4), -4);
}

TEST(Expression, FunctionsOfTheTrade) {
  std::int64_t sum = 0;
  for (std::int64_t p = 0; p < 4; ++p) {
    sum += value({number(103), number(8), number(p), number(4), op(Operator::kNumroc)}).integer();
  }
  EXPECT_EQ(sum, 103);
  EXPECT_EQ(value({number(10), number(4), number(1), op(Operator::kBlock)}).integer(), 3);
  EXPECT_EQ(value({number(10), number(4), number(2), op(Operator::kBlock)}).integer(), 2);
  double mean = 0;
  for (std::int64_t r = 0; r < 5; ++r) {
    mean += value({number(r), number(5), real(3.0), op(Operator::kSkew)}).real() / 5;
  }
  EXPECT_DOUBLE_EQ(mean, 1.0);
}

TEST(Expression, MinimumKeepsTheKindOfItsOperand) {
  EXPECT_FALSE(value({number(1), real(1.0), op(Operator::kMinimum)}).is_real());
  EXPECT_TRUE(value({real(1.0), number(1), op(Operator::kMaximum)}).is_real());
  EXPECT_TRUE(value({number(1), real(2.0), op(Operator::kMaximum)}).is_real());
}

TEST(Expression, JumpsChooseAndOnlyGoForward) {
  const schema::Expression choice{op(Operator::kVariable), op(Operator::kJumpIfFalse, 4),
                                  number(10), op(Operator::kJump, 5), number(20)};
  EXPECT_EQ(value(choice, {std::int64_t{1}}).integer(), 10);
  EXPECT_EQ(value(choice, {std::int64_t{0}}).integer(), 20);
  EXPECT_THROW(value({number(1), op(Operator::kJump, 0)}), base::Error);
  EXPECT_THROW(value({number(1), op(Operator::kJump, 3)}), base::Error);
  EXPECT_THROW(value({number(1), op(Operator::kJump, -1)}), base::Error);
}

TEST(Expression, NeverReadsWhatIsNotThere) {
  EXPECT_THROW(value({op(Operator::kAdd)}), base::Error);
  EXPECT_THROW(value({number(1), op(Operator::kNumroc)}), base::Error);
  EXPECT_THROW(value({op(Operator::kJumpIfFalse, 1)}), base::Error);
  EXPECT_THROW(value({op(Operator::kVariable, 2)}, {std::int64_t{1}}), base::Error);
  EXPECT_THROW(value({op(Operator::kVariable, -1)}, {std::int64_t{1}}), base::Error);
  EXPECT_THROW(value({number(1), number(2)}), base::Error);
}

TEST(Expression, IntegersAreDemandedWhereTheyAreNeeded) {
  Evaluator evaluator;
  EXPECT_EQ(evaluator.integer({real(4.0)}, {}, "test"), 4);
  EXPECT_THROW(evaluator.integer({real(4.5)}, {}, "test"), base::Error);
  EXPECT_THROW(evaluator.integer({real(1e19)}, {}, "test"), base::Error);
  EXPECT_THROW(evaluator.count({number(-1)}, {}, "test"), base::Error);
}

}  // namespace
}  // namespace venturi::pattern

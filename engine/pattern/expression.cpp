// The stack machine of expressions.
#include "pattern/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/error.hpp"
#include "pattern/arithmetic.hpp"

namespace venturi::pattern {
namespace {

using schema::Instruction;
using schema::Operator;

bool is_jump(const Instruction& step) {
  return step.operator_ == Operator::kJump || step.operator_ == Operator::kJumpIfFalse;
}

std::size_t index_of(const Instruction& step) { return static_cast<std::size_t>(step.integer); }

}  // namespace

void validate(const schema::Expression& code, std::size_t slots, const std::string& where) {
  for (std::size_t at = 0; at < code.size(); ++at) {
    const Instruction& step = code[at];
    const bool bad_slot =
        step.operator_ == Operator::kVariable && (step.integer < 0 || index_of(step) >= slots);
    if (bad_slot) {
      throw base::plan_error(fmt::format("{}[{}].integer", where, at),
                             fmt::format("there is no slot {}", step.integer));
    }
    if (is_jump(step) &&
        (step.integer < 0 || index_of(step) <= at || index_of(step) > code.size())) {
      throw base::plan_error(fmt::format("{}[{}].integer", where, at),
                             "a jump must go forward and not beyond the end");
    }
    if (!std::isfinite(step.real)) {
      throw base::plan_error(fmt::format("{}[{}].real", where, at), "must be finite");
    }
  }
}

bool reads_slot(const schema::Expression& code, std::span<const std::size_t> slots) {
  return std::any_of(code.begin(), code.end(), [&](const Instruction& step) {
    return step.operator_ == Operator::kVariable &&
           std::find(slots.begin(), slots.end(), index_of(step)) != slots.end();
  });
}

Value Evaluator::value(const schema::Expression& code, const Slots& slots, const char* where) {
  // Most expressions are one number or one variable.
  if (code.size() == 1) {
    const Instruction& only = code.front();
    if (only.operator_ == Operator::kInteger) return only.integer;
    const bool is_slot = only.operator_ == Operator::kVariable && index_of(only) < slots.size();
    if (is_slot) return slots[index_of(only)];
  }
  try {
    return run(code, slots);
  } catch (const std::domain_error& error) {
    throw base::plan_error(where, fmt::format("the expression has no value: {}", error.what()));
  }
}

Value Evaluator::run(const schema::Expression& code, const Slots& slots) {
  // Jumps only go forward, so no instruction is met twice, and each leaves one number at most.
  if (stack_.size() < code.size()) stack_.resize(code.size());
  std::size_t height = 0;
  for (std::size_t at = 0; at < code.size();) {
    const Instruction& step = code[at++];
    const std::size_t operands = arity(step.operator_);
    if (height < operands) throw std::domain_error("an operator has too few operands");
    switch (step.operator_) {
      case Operator::kInteger:
        stack_[height++] = step.integer;
        break;
      case Operator::kReal:
        stack_[height++] = step.real;
        break;
      case Operator::kVariable:
        if (index_of(step) >= slots.size()) throw std::domain_error("there is no such slot");
        stack_[height++] = slots[index_of(step)];
        break;
      case Operator::kJump:
      case Operator::kJumpIfFalse:
        if (index_of(step) < at) throw std::domain_error("a jump goes back");
        height -= operands;
        if (operands == 0 || stack_[height].is_zero()) at = index_of(step);
        break;
      default:
        height -= operands;
        stack_[height] = apply(step.operator_, std::span(stack_).subspan(height, operands));
        ++height;
    }
  }
  if (height != 1) throw std::domain_error("it does not leave exactly one number");
  return stack_.front();
}

Value Evaluator::apply(Operator op, std::span<const Value> operands) const {
  if (op != Operator::kSameSlotNextNode && op != Operator::kRandomRemoteRank)
    return apply_operator(op, operands);
  if (operands[0].is_real() || operands[1].is_real()) {
    throw std::domain_error("an integer is needed, but this is a real number");
  }
  const std::int64_t rank = operands[0].integer();
  const std::int64_t other = operands[1].integer();
  return op == Operator::kSameSlotNextNode
             ? neighbours_.same_slot_next_node(rank, other)
             : neighbours_.random_remote_rank(rank, static_cast<std::uint64_t>(other));
}

std::int64_t Evaluator::integer(const schema::Expression& code, const Slots& slots,
                                const char* where) {
  const Value found = value(code, slots, where);
  if (!found.is_real()) return found.integer();
  const double real = found.real();
  const bool fits = real >= -9223372036854775808.0 && real < 9223372036854775808.0;
  if (!fits || std::trunc(real) != real) {
    throw base::plan_error(where, fmt::format("{} is not an integer", real));
  }
  return static_cast<std::int64_t>(real);
}

std::uint64_t Evaluator::count(const schema::Expression& code, const Slots& slots,
                               const char* where) {
  const std::int64_t found = integer(code, slots, where);
  if (found < 0) throw base::plan_error(where, fmt::format("{} is negative", found));
  return static_cast<std::uint64_t>(found);
}

double Evaluator::seconds(const schema::Expression& code, const Slots& slots, const char* where) {
  const double found = value(code, slots, where).real();
  if (found < 0.0) throw base::plan_error(where, fmt::format("{} s is negative", found));
  return found;
}

}  // namespace venturi::pattern

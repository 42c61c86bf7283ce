// The operators of expressions on values: exact, checked, and equal to their Python twins.
#pragma once

#include <span>

#include "pattern/expression.hpp"

namespace venturi::pattern {

/// How many operands an operator takes from the stack.
std::size_t arity(schema::Operator op);

/// Applies an operator that is neither a literal, a variable nor a jump to `arity(op)` operands.
/// Throws std::domain_error saying what is wrong.
Value apply_operator(schema::Operator op, std::span<const Value> operands);

}  // namespace venturi::pattern

// Bytes that a workload names: headers, numbers and text in the formats of applications.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "pattern/expression.hpp"
#include "schema/plan.hpp"

namespace venturi::payload {

/// Checks the expressions once; `slots` is how many there are. Throws base::Error (exit 2).
void check(const schema::LiteralContent& literal, std::size_t slots, const std::string& where);

/// Writes what a step gives, for the rank and the turns of loops in `slots`. Throws base::Error
/// (exit 2) if a number does not fit its type or its width, or the whole does not fill `out`.
void render(const schema::LiteralContent& literal, pattern::Evaluator& evaluator,
            const pattern::Slots& slots, std::span<std::byte> out);

}  // namespace venturi::payload

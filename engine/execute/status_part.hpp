// The verbs that set a part of a file's status.
#pragma once

#include <optional>

#include "backend/backend.hpp"

namespace venturi::execute {

/// What a verb, of a name or of an item, sets; none where it does something else.
template <class Verb>
constexpr std::optional<backend::StatusPart> status_part(Verb verb) noexcept {
  using backend::StatusPart;
  if (verb == Verb::kSetMode) return StatusPart::kMode;
  if (verb == Verb::kSetOwner) return StatusPart::kOwner;
  if (verb == Verb::kSetTimes) return StatusPart::kTimes;
  return std::nullopt;
}

}  // namespace venturi::execute

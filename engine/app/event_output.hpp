// Events become lines on stdout, whole and at once.
#pragma once

#include "base/error.hpp"
#include "schema/event.hpp"

namespace venturi::app {

/// Writes one event as one line. Throws base::Broken when nobody reads stdout any more.
void write_event(const schema::Event& event);

/// The `failed` event, and one clear line on stderr. Never throws.
void write_failure(const base::Problem& problem) noexcept;

/// Writes text to stdout; false if nobody reads it.
bool write_text(const std::string& text);

}  // namespace venturi::app

// Events become lines on stdout, whole and at once.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"
#include "schema/event.hpp"

namespace venturi::app {

/// Where the events of one rank go. Only the first of all ranks writes to stdout, because lines of
/// several ranks tear each other; the first ranks of other groups write into the journal.
class EventOutput {
 public:
  EventOutput(const std::string& journal, std::size_t rank);

  /// Writes one event as one line. Throws base::Broken when nobody reads stdout any more, or when
  /// the journal cannot be written.
  void operator()(const schema::Event& event);

 private:
  /// Empty for stdout.
  std::string path_;
};

/// The `failed` event, and one clear line on stderr. Never throws.
void write_failure(const base::Problem& problem) noexcept;

/// Writes text to stdout; false if nobody reads it.
bool write_text(const std::string& text);

}  // namespace venturi::app

// A text as JSON: the one thing that commands need to write small answers.
#pragma once

#include <string>
#include <string_view>

namespace venturi::app {

/// The text in quotes, escaped; bytes that are not ASCII pass as they are.
std::string quote(std::string_view text);

}  // namespace venturi::app

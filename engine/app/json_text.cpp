// Escaping.
#include "app/json_text.hpp"

#include <fmt/format.h>

namespace venturi::app {

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(letter));
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

}  // namespace venturi::app

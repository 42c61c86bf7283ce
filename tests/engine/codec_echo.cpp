// Decodes and encodes documents line by line, so that tests can compare the two languages.
#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "schema/event.hpp"
#include "schema/plan.hpp"

namespace {

namespace schema = venturi::schema;

std::string reencoded(std::string_view kind, std::string_view text) {
  if (kind == "plan") return schema::encode_plan(schema::decode_plan(text));
  if (kind == "event") return schema::encode_event(schema::decode_event(text));
  if (kind == "interface") {
    const auto value = schema::parse_interface(text);
    return value ? std::string(schema::to_string(*value)) : "none";
  }
  throw venturi::base::plan_error("", "a line begins with 'plan', 'event' or 'interface'");
}

std::string answer(std::string_view kind, std::string_view text) {
  try {
    return "ok " + reencoded(kind, text);
  } catch (const venturi::base::Error& error) {
    std::string text = "error " + error.problem().where + ": " + error.problem().message;
    std::ranges::replace(text, '\n', ' ');  // out of a strange key; an answer is one line
    return text;
  }
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::string_view text = line;
    const std::size_t space = text.find(' ');
    const std::string_view document = space == text.npos ? "" : text.substr(space + 1);
    std::cout << answer(text.substr(0, space), document) << '\n';
  }
}

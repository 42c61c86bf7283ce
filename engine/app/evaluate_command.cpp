// `venturi-engine evaluate`: a test aid that compares our arithmetic with its Python twin.
#include <fmt/format.h>

#include <iostream>
#include <string>

#include "app/command.hpp"
#include "app/event_output.hpp"
#include "base/error.hpp"
#include "pattern/expression.hpp"
#include "schema/codec.hpp"
#include "schema/plan.hpp"

namespace venturi::schema {
void decode(const codec::Node& node, Instruction& out);
}  // namespace venturi::schema

namespace venturi::app {
namespace {

struct Question {
  schema::Expression code;
  std::vector<std::int64_t> slots;
};

Question read_question(const std::string& line) {
  Question question;
  const schema::codec::Json json = schema::codec::parse_text(line);
  const schema::codec::Node root(json);
  schema::codec::Object object(root);
  object.required("code", question.code, schema::codec::Size{1});
  object.required("slots", question.slots, schema::codec::Size{0});
  object.finish();
  return question;
}

std::string answer(const std::string& line) {
  try {
    const Question question = read_question(line);
    const pattern::Slots slots(question.slots.begin(), question.slots.end());
    pattern::validate(question.code, slots.size(), "code");
    const pattern::Value value = pattern::Evaluator().value(question.code, slots, "code");
    return value.is_real() ? fmt::format("real {:.17g}", value.real())
                           : fmt::format("integer {}", value.integer());
  } catch (const base::Error& error) {
    return fmt::format("error {}", error.what());
  }
}

}  // namespace

int evaluate_command() {
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!write_text(answer(line) + "\n")) return base::kExitFailed;
  }
  return 0;
}

}  // namespace venturi::app

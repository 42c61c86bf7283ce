// Looking up interfaces and reading their options.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "backend/table.hpp"
#include "base/error.hpp"

namespace venturi::backend {
namespace {

const OptionInfo* find_info(const Entry& entry, const std::string& name) {
  const auto found = std::find_if(entry.options.begin(), entry.options.end(),
                                  [&](const OptionInfo& info) { return name == info.name; });
  return found == entry.options.end() ? nullptr : &*found;
}

std::string text_of(const Entry& entry, const std::vector<schema::Option>& options,
                    const std::string& name) {
  for (const schema::Option& option : options) {
    if (option.name == name) return option.value;
  }
  return find_info(entry, name)->default_value;
}

bool parse_real(const std::string& text, double& out) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && stop == end && std::isfinite(out) && out >= 0.0;
}

}  // namespace

const Row& row_of(schema::Interface interface) {
  const auto rows = table();
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const Row& row) { return row.interface == interface; });
}

void check_options(const Entry& entry, const std::vector<schema::Option>& options,
                   const std::string& where) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string place = fmt::format("{}.options[{}]", where, i);
    const OptionInfo* info = find_info(entry, options[i].name);
    if (info == nullptr) {
      std::string known;
      for (const OptionInfo& each : entry.options) known += fmt::format(" {}", each.name);
      throw base::plan_error(
          place + ".name", fmt::format("there is no option {}", options[i].name),
          known.empty() ? "this interface has no options" : "known are:" + known);
    }
    double number = 0.0;
    const bool boolean = std::string(info->type) == "boolean";
    const bool fine = boolean ? options[i].value == "true" || options[i].value == "false"
                              : parse_real(options[i].value, number);
    if (!fine) {
      throw base::plan_error(place + ".value",
                             fmt::format("{} must be {}", info->name, info->range));
    }
  }
}

bool boolean_option(const Entry& entry, const std::vector<schema::Option>& options,
                    const std::string& name) {
  return text_of(entry, options, name) == "true";
}

double real_option(const Entry& entry, const std::vector<schema::Option>& options,
                   const std::string& name) {
  double number = 0.0;
  parse_real(text_of(entry, options, name), number);
  return number;
}

}  // namespace venturi::backend

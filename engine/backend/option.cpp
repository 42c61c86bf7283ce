// Looking up interfaces and reading their options.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

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

bool parse_real(std::string_view text, double& out) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && stop == end && std::isfinite(out);
}

/// Numbers up to here are exact as doubles.
constexpr double kMostWhole = 9007199254740992.0;

bool parse_whole(std::string_view text, double& out) {
  return parse_real(text, out) && std::floor(out) == out && std::fabs(out) <= kMostWhole;
}

/// `64 MiB`, `1 MB` or `3901`, with the units of the workload language.
bool parse_bytes(std::string_view text, double& out) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr Unit kUnits[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
                                    {"TiB", 0x1p40}, {"PiB", 0x1p50}, {"kB", 1e3},
                                    {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
                                    {"PB", 1e15},    {"B", 1.0}};
  double factor = 1.0;
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    factor = unit.bytes;
    text.remove_suffix(unit.name.size());
    while (text.ends_with(' ')) text.remove_suffix(1);
    break;
  }
  if (!parse_real(text, out)) return false;
  out *= factor;
  return std::floor(out) == out && std::fabs(out) <= kMostWhole;
}

/// Whether a word is in a set that is written `a|b|c`.
bool is_among(std::string_view word, std::string_view set) {
  while (!set.empty()) {
    const std::string_view each = set.substr(0, set.find('|'));
    if (each == word) return true;
    set.remove_prefix(std::min(set.size(), each.size() + 1));
  }
  return false;
}

/// The allowed values, for people.
std::string allowed(const OptionInfo& info) {
  std::string text = info.range;
  if (std::string_view(info.type) != "word") return text;
  const std::size_t last = text.rfind('|');
  if (last != std::string::npos) text.replace(last, 1, " or ");
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|')) {
    text.replace(at, 1, ", ");
  }
  return text;
}

bool is_fine(const OptionInfo& info, const std::string& value) {
  const std::string_view type = info.type;
  if (type == "boolean") return value == "true" || value == "false";
  if (type == "word") return is_among(value, info.range);
  if (type == "text") return true;
  double number = 0.0;
  const bool parsed = type == "real"    ? parse_real(value, number)
                      : type == "bytes" ? parse_bytes(value, number)
                                        : parse_whole(value, number);
  return parsed && number >= info.least && number <= info.most;
}

}  // namespace

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
    if (!is_fine(*info, options[i].value)) {
      throw base::plan_error(place + ".value", fmt::format("{} must be {}, not {}", info->name,
                                                           allowed(*info), options[i].value));
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

std::int64_t integer_option(const Entry& entry, const std::vector<schema::Option>& options,
                            const std::string& name) {
  double number = 0.0;
  parse_whole(text_of(entry, options, name), number);
  return static_cast<std::int64_t>(number);
}

std::uint64_t bytes_option(const Entry& entry, const std::vector<schema::Option>& options,
                           const std::string& name) {
  double number = 0.0;
  parse_bytes(text_of(entry, options, name), number);
  return static_cast<std::uint64_t>(number);
}

std::string word_option(const Entry& entry, const std::vector<schema::Option>& options,
                        const std::string& name) {
  return text_of(entry, options, name);
}

std::string text_option(const Entry& entry, const std::vector<schema::Option>& options,
                        const std::string& name) {
  return text_of(entry, options, name);
}

int word_value(const Entry& entry, const std::vector<schema::Option>& options,
               const std::string& name, std::span<const WordValue> values) {
  const std::string word = text_of(entry, options, name);
  for (const WordValue& each : values) {
    if (word == each.word) return each.value;
  }
  throw base::plan_error("options", fmt::format("{} has no meaning for {}", word, name));
}

}  // namespace venturi::backend

// Lines that have a text in them.
#include "kernel/big_data.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"
#include "kernel/text_lines.hpp"

namespace venturi::kernel {

const Description& data_grep_description();
const Description& data_grep_description() {
  static const Description description = [] {
    Description made =
        big_data_description("finding the lines that have a text in them", "1000000");
    made.options.push_back(
        {"text", "text", "zuz", "what is looked for, as it stands", "at least 1 byte"});
    return made;
  }();
  return description;
}

namespace {

/// As a program that reads a stream does it: from one place of the text to the next.
std::uint64_t find_lines(std::string_view input, std::string_view text, std::string& found) {
  std::uint64_t count = 0;
  for (std::size_t at = input.find(text); at < input.size();) {
    const std::size_t before = input.rfind('\n', at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(input.find('\n', at), input.size());
    found.append(input.substr(begin, end - begin));
    found += '\n';
    ++count;
    at = end < input.size() ? input.find(text, end) : end;
  }
  return count;
}

/// From the generator, line by line.
std::uint64_t wanted_lines(const BigData& data, const TextLines& lines, const std::string& text) {
  std::uint64_t count = 0;
  std::string line;
  for (std::uint64_t i = data.first(); i < data.last(); ++i) {
    line.clear();
    lines.append(i, line);
    line.pop_back();
    count += line.find(text) != std::string::npos ? 1 : 0;
  }
  return count;
}

void measure(const Environment& environment, schema::KernelResult& out) {
  const TextLines lines(environment.seed);
  const std::string text = environment.settings.text("text");
  environment.together([&] {
    if (text.empty()) throw wrong_value("data_grep: there is no text to look for");
  });
  BigData data(environment, "data_grep",
               [&](std::uint64_t line, std::string& made) { lines.append(line, made); });
  const std::uint64_t wanted = environment.group.sum(wanted_lines(data, lines, text));
  data.sample(
      [&] {
        std::string found;
        std::uint64_t count = 0;
        data.read();
        data.timed(Part::kCompute, [&] { count = find_lines(data.input(), text, found); });
        std::uint64_t all = data.summed(count);
        data.write(found);
        if (data.damages()) ++all;
        data.check([&] {
          if (all == wanted) return;
          throw wrong_value("data_grep: found " + std::to_string(all) + " lines, not " +
                            std::to_string(wanted));
        });
      },
      out);
  out.facts.push_back({"text", text});
  out.facts.push_back({"lines with it", std::to_string(wanted)});
}

}  // namespace

const Entry& data_grep_entry();
const Entry& data_grep_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel

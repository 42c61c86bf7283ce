// A random sample of lines: whether a line is in it follows from its number alone.
#include "base/random.hpp"
#include "kernel/big_data.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"
#include "kernel/text_lines.hpp"

namespace venturi::kernel {

const Description& data_sample_description();
const Description& data_sample_description() {
  static const Description description = [] {
    Description made = big_data_description("a random sample of generated lines", "1000000");
    made.options.push_back(
        {"share", "real", "0.1", "the chance of each line to be taken", "0 to 1", 0.0, 1.0});
    return made;
  }();
  return description;
}

namespace {

/// How many lines were taken, and a sum over them that does not depend on their order.
struct Taken {
  std::uint64_t lines = 0;
  std::uint64_t sum = 0;

  void add(std::string_view line) {
    ++lines;
    sum += base::key_of(line);
  }
};

void measure(const Environment& environment, schema::KernelResult& out) {
  const TextLines lines(environment.seed);
  const double share = environment.settings.real("share");
  const std::uint64_t key = base::combine(environment.seed, base::key_of("data_sample"));
  const auto is_taken = [&](std::uint64_t line) { return base::uniform_real(key, line) < share; };
  BigData data(environment, "data_sample",
               [&](std::uint64_t line, std::string& text) { lines.append(line, text); });
  Taken wanted;
  std::string made;
  for (std::uint64_t line = data.first(); line < data.last(); ++line) {
    if (!is_taken(line)) continue;
    made.clear();
    lines.append(line, made);
    wanted.add({made.data(), made.size() - 1});
  }
  wanted = {environment.group.sum(wanted.lines), environment.group.sum(wanted.sum)};
  data.sample(
      [&] {
        Taken found;
        std::string sample;
        data.read();
        data.timed(Part::kCompute, [&] {
          std::uint64_t line = data.first();
          each_line(data.input(), [&](std::string_view text) {
            if (!is_taken(line++)) return;
            found.add(text);
            sample.append(text);
            sample += '\n';
          });
        });
        found = {data.summed(found.lines), data.summed(found.sum)};
        data.write(sample);
        if (data.damages()) ++found.sum;
        data.check([&] {
          if (found.lines == wanted.lines && found.sum == wanted.sum) return;
          throw wrong_value("data_sample: took " + std::to_string(found.lines) + " lines, of " +
                            std::to_string(wanted.lines) + ", or others than the right ones");
        });
      },
      out);
  out.facts.push_back({"lines taken", std::to_string(wanted.lines)});
}

}  // namespace

const Entry& data_sample_entry();
const Entry& data_sample_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel

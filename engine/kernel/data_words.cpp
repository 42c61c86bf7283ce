// Counting words: each rank counts its own lines, words go to ranks by their key, and each rank
// adds up what came.
#include <cstring>
#include <unordered_map>

#include "base/random.hpp"
#include "kernel/big_data.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"
#include "kernel/text_lines.hpp"

namespace venturi::kernel {

const Description& data_words_description();
const Description& data_words_description() {
  static const Description description = big_data_description(
      "counting the words of generated lines, each kind of them on one rank", "1000000");
  return description;
}

namespace {

using Counts = std::unordered_map<std::string, std::uint64_t>;

void count_words(std::string_view text, Counts& counts) {
  std::unordered_map<std::string_view, std::uint64_t> seen;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (end > 0) ++seen[text.substr(0, end)];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (const auto& [word, count] : seen) counts[std::string(word)] += count;
}

/// The counts as they travel: the number, the word, an end of line.
std::vector<std::string> parts_of(const Counts& counts, std::size_t ranks) {
  std::vector<std::string> parts(ranks);
  for (const auto& [word, count] : counts) {
    std::string& part = parts[base::key_of(word) % ranks];
    part.append(reinterpret_cast<const char*>(&count), sizeof count);
    part += word;
    part += '\n';
  }
  return parts;
}

void add_part(std::string_view part, Counts& counts) {
  while (!part.empty()) {
    std::uint64_t count = 0;
    std::memcpy(&count, part.data(), sizeof count);
    const std::size_t end = part.find('\n', sizeof count);
    counts[std::string(part.substr(sizeof count, end - sizeof count))] += count;
    part.remove_prefix(end + 1);
  }
}

std::string text_of(const Counts& counts) {
  std::string text;
  for (const auto& [word, count] : counts) text += word + " " + std::to_string(count) + "\n";
  return text;
}

/// How often the generator of all ranks drew each word; the same on all ranks. Collective.
std::vector<std::uint64_t> drawn(BigData& data, const TextLines& lines) {
  std::vector<std::uint64_t> counts(TextLines::kVocabulary);
  for (std::uint64_t line = data.first(); line < data.last(); ++line) {
    for (const std::uint32_t place : lines.words_of(line)) ++counts[place];
  }
  data.environment().group.reduce(std::span(counts), comm::Reduction::kSum);
  return counts;
}

void compare(const BigData& data, const TextLines& lines, const std::vector<std::uint64_t>& wanted,
             const Counts& found) {
  const comm::Group& group = data.environment().group;
  std::size_t here = 0;
  for (std::size_t place = 0; place < wanted.size(); ++place) {
    const std::string& word = lines.word(place);
    if (base::key_of(word) % group.size() != group.rank() || wanted[place] == 0) continue;
    ++here;
    const auto own = found.find(word);
    const std::uint64_t count = own == found.end() ? 0 : own->second;
    if (count == wanted[place]) continue;
    throw wrong_value("data_words: counted '" + word + "' " + std::to_string(count) +
                      " times, not " + std::to_string(wanted[place]));
  }
  if (here == found.size()) return;
  throw wrong_value("data_words: counted " + std::to_string(found.size()) +
                    " kinds of words, not " + std::to_string(here));
}

void measure(const Environment& environment, schema::KernelResult& out) {
  const TextLines lines(environment.seed);
  BigData data(environment, "data_words",
               [&](std::uint64_t line, std::string& text) { lines.append(line, text); });
  const std::vector<std::uint64_t> wanted = drawn(data, lines);
  std::uint64_t kinds = 0;
  data.sample(
      [&] {
        Counts own;
        std::vector<std::string> parts;
        data.read();
        data.timed(Part::kCompute, [&] {
          count_words(data.input(), own);
          parts = parts_of(own, environment.group.size());
        });
        parts = data.exchanged(std::move(parts));
        Counts all;
        std::string text;
        data.timed(Part::kCompute, [&] {
          for (const std::string& part : parts) add_part(part, all);
          text = text_of(all);
        });
        data.write(text);
        if (data.damages() && !all.empty()) ++all.begin()->second;
        data.check([&] { compare(data, lines, wanted, all); });
        kinds = environment.group.sum(all.size());
      },
      out);
  out.facts.push_back({"words", std::to_string(data.records() * TextLines::kWordsOfLine)});
  out.facts.push_back({"kinds of words", std::to_string(kinds)});
}

}  // namespace

const Entry& data_words_entry();
const Entry& data_words_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel

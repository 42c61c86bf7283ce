// The vocabulary and the draw of words.
#include "kernel/text_lines.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace venturi::kernel {
namespace {

constexpr double kExponent = 1.05;
constexpr double kOffset = 2.7;
constexpr std::uint64_t kSyllables = 100;

/// A word of two or three syllables of a consonant and a vowel; each number has another one.
std::string word_of(std::uint64_t number) {
  static constexpr const char* kConsonants = "bcdfghjklmnpqrstvwxz";
  static constexpr const char* kVowels = "aeiou";
  std::string word;
  for (std::uint64_t rest = number + kSyllables; rest > 0; rest /= kSyllables) {
    const std::uint64_t syllable = rest % kSyllables;
    word += {kConsonants[syllable / 5], kVowels[syllable % 5]};
  }
  return word;
}

}  // namespace

TextLines::TextLines(std::uint64_t seed) : key_(base::combine(seed, base::key_of("text"))) {
  double sum = 0.0;
  for (std::size_t place = 0; place < kVocabulary; ++place) {
    words_.push_back(word_of(place));
    sum += std::pow(static_cast<double>(place + 1) + kOffset, -kExponent);
    shares_.push_back(sum);
  }
  for (double& share : shares_) share /= sum;
}

std::array<std::uint32_t, TextLines::kWordsOfLine> TextLines::words_of(std::uint64_t line) const {
  std::array<std::uint32_t, kWordsOfLine> places{};
  for (std::size_t word = 0; word < kWordsOfLine; ++word) {
    const double draw = base::uniform_real(key_, line * kWordsOfLine + word);
    const auto found = std::lower_bound(shares_.begin(), shares_.end(), draw);
    const auto place = static_cast<std::size_t>(found - shares_.begin());
    places[word] = static_cast<std::uint32_t>(std::min(place, kVocabulary - 1));
  }
  return places;
}

void TextLines::append(std::uint64_t line, std::string& out) const {
  for (const std::uint32_t place : words_of(line)) {
    out += words_[place];
    out += ' ';
  }
  out.back() = '\n';
}

}  // namespace venturi::kernel

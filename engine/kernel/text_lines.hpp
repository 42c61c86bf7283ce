// Lines of words that follow from a seed and their number alone, as kernels of big data read them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace venturi::kernel {

/// Lines of 12 words, whose frequencies follow Zipf and Mandelbrot, 1 / (k + 2.7) ^ 1.05, over a
/// vocabulary of 20 000 words. Line i of a seed is the same on every rank of every number of ranks.
class TextLines {
 public:
  static constexpr std::size_t kWordsOfLine = 12;
  static constexpr std::size_t kVocabulary = 20'000;
  /// Bytes of a line at most.
  static constexpr std::size_t kMostLineBytes = kWordsOfLine * 7;

  explicit TextLines(std::uint64_t seed);

  /// The places of a line's words in the vocabulary.
  [[nodiscard]] std::array<std::uint32_t, kWordsOfLine> words_of(std::uint64_t line) const;
  /// Adds a line with its end of line.
  void append(std::uint64_t line, std::string& out) const;
  [[nodiscard]] const std::string& word(std::size_t place) const { return words_[place]; }

 private:
  std::uint64_t key_;
  std::vector<std::string> words_;
  /// Of all words up to each, growing to 1.
  std::vector<double> shares_;
};

}  // namespace venturi::kernel

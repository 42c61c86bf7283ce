// RFC 1321, section 3.4.
#include "kernel/md5.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace venturi::kernel {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::array<std::array<int, 4>, 4> kTurns{
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

using State = std::array<std::uint32_t, 4>;

/// The integer part of 2^32 times |sin(i + 1)|, as the RFC has it.
const std::array<std::uint32_t, 64>& sines() {
  static const std::array<std::uint32_t, 64> table = [] {
    std::array<std::uint32_t, 64> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = static_cast<std::uint32_t>(
          static_cast<std::uint64_t>(std::fabs(std::sin(static_cast<double>(i + 1))) * 0x1p32));
    }
    return made;
  }();
  return table;
}

/// What a round makes of three words, and which word of the block a step takes.
struct Step {
  std::uint32_t mixed;
  std::size_t word;
};

Step step_of(std::size_t i, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  switch (i / 16) {
    case 0:
      return {(b & c) | (~b & d), i};
    case 1:
      return {(d & b) | (~d & c), (5 * i + 1) % 16};
    case 2:
      return {b ^ c ^ d, (3 * i + 5) % 16};
    default:
      return {c ^ (b | ~d), (7 * i) % 16};
  }
}

void add_block(State& state, const char* block) {
  std::array<std::uint32_t, 16> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t byte = 4; byte > 0; --byte) {
      words[i] = (words[i] << 8U) | static_cast<std::uint8_t>(block[4 * i + byte - 1]);
    }
  }
  auto [a, b, c, d] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const Step step = step_of(i, b, c, d);
    const std::uint32_t sum = a + step.mixed + sines()[i] + words[step.word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kTurns[i / 16][i % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::array<std::uint8_t, 16> md5_of(std::string_view text) {
  State state{0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U};
  std::size_t at = 0;
  for (; at + kBlockBytes <= text.size(); at += kBlockBytes) add_block(state, text.data() + at);
  // The rest, a bit that is set, zeros, and the length in bits: one block or two.
  std::array<char, 2 * kBlockBytes> end{};
  const std::size_t rest = text.size() - at;
  std::memcpy(end.data(), text.data() + at, rest);
  end[rest] = static_cast<char>(0x80);
  const std::size_t blocks = rest + 9 <= kBlockBytes ? 1 : 2;
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (std::size_t byte = 0; byte < 8; ++byte) {
    end[blocks * kBlockBytes - 8 + byte] = static_cast<char>(bits >> (8 * byte));
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    add_block(state, end.data() + block * kBlockBytes);
  }
  std::array<std::uint8_t, 16> digest{};
  for (std::size_t byte = 0; byte < digest.size(); ++byte) {
    digest[byte] = static_cast<std::uint8_t>(state[byte / 4] >> (8 * (byte % 4)));
  }
  return digest;
}

}  // namespace venturi::kernel

// Code that nobody needs, a few thousand pieces of it.
#include "execute/cold_code.hpp"

#include <array>
#include <utility>

namespace venturi::execute {

namespace {

/// At 64 bytes each at least 256 KiB: eight times a core's usual cache of code.
constexpr std::size_t kPieces = 4096;

template <std::size_t Number>
[[gnu::noinline, gnu::aligned(64)]] std::uint64_t piece(std::uint64_t value) {
  constexpr std::uint64_t kMixed = 0x9E3779B97F4A7C15U;
  if ((value >> (Number % 13) & 1U) != 0) {
    value = value * kMixed + Number;
  } else {
    value ^= value >> (Number % 31 + 1);
  }
  if ((value >> (Number % 29) & 1U) != 0) value += Number * 77777;
  return value;
}

template <std::size_t... Number>
constexpr std::array<ColdPiece, sizeof...(Number)> pieces(std::index_sequence<Number...> /*all*/) {
  return {&piece<Number>...};
}

constexpr auto kAll = pieces(std::make_index_sequence<kPieces>{});

}  // namespace

std::span<const ColdPiece> cold_code() { return kAll; }

}  // namespace venturi::execute

// SHA-256 and its message code.
#include "backend/s3/sha256.hpp"

#include <algorithm>
#include <bit>

namespace venturi::backend::s3 {
namespace {

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRoundConstants{
    0x428a2f98U, 0x71374491U, 0xb5c0fbcfU, 0xe9b5dba5U, 0x3956c25bU, 0x59f111f1U, 0x923f82a4U,
    0xab1c5ed5U, 0xd807aa98U, 0x12835b01U, 0x243185beU, 0x550c7dc3U, 0x72be5d74U, 0x80deb1feU,
    0x9bdc06a7U, 0xc19bf174U, 0xe49b69c1U, 0xefbe4786U, 0x0fc19dc6U, 0x240ca1ccU, 0x2de92c6fU,
    0x4a7484aaU, 0x5cb0a9dcU, 0x76f988daU, 0x983e5152U, 0xa831c66dU, 0xb00327c8U, 0xbf597fc7U,
    0xc6e00bf3U, 0xd5a79147U, 0x06ca6351U, 0x14292967U, 0x27b70a85U, 0x2e1b2138U, 0x4d2c6dfcU,
    0x53380d13U, 0x650a7354U, 0x766a0abbU, 0x81c2c92eU, 0x92722c85U, 0xa2bfe8a1U, 0xa81a664bU,
    0xc24b8b70U, 0xc76c51a3U, 0xd192e819U, 0xd6990624U, 0xf40e3585U, 0x106aa070U, 0x19a4c116U,
    0x1e376c08U, 0x2748774cU, 0x34b0bcb5U, 0x391c0cb3U, 0x4ed8aa4aU, 0x5b9cca4fU, 0x682e6ff3U,
    0x748f82eeU, 0x78a5636fU, 0x84c87814U, 0x8cc70208U, 0x90befffaU, 0xa4506cebU, 0xbef9a3f7U,
    0xc67178f2U};

constexpr std::size_t kWordBytes = 4;
constexpr std::size_t kLengthBytes = 8;

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return (std::uint32_t{bytes[0]} << 24U) | (std::uint32_t{bytes[1]} << 16U) |
         (std::uint32_t{bytes[2]} << 8U) | std::uint32_t{bytes[3]};
}

std::array<std::uint32_t, 64> schedule_of(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < 16; ++i) words[i] = big_endian(block + i * kWordBytes);
  for (std::size_t i = 16; i < words.size(); ++i) {
    const std::uint32_t a = words[i - 15];
    const std::uint32_t b = words[i - 2];
    const std::uint32_t low = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U);
    const std::uint32_t high = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U);
    words[i] = words[i - 16] + low + words[i - 7] + high;
  }
  return words;
}

}  // namespace

void Sha256::absorb(const std::uint8_t* block) {
  const std::array<std::uint32_t, 64> words = schedule_of(block);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t mixed_e = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t first = h + mixed_e + ((e & f) ^ (~e & g)) + kRoundConstants[i] + words[i];
    const std::uint32_t mixed_a = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t second = mixed_a + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += added[i];
}

void Sha256::update(std::string_view bytes) {
  total_bytes_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t taken = std::min(kBlockBytes - pending_bytes_, bytes.size());
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<long>(pending_bytes_));
    pending_bytes_ += taken;
    bytes.remove_prefix(taken);
    if (pending_bytes_ < kBlockBytes) return;
    absorb(pending_.data());
    pending_bytes_ = 0;
  }
}

Digest Sha256::finish() {
  const std::uint64_t bits = total_bytes_ * 8U;
  std::string end(1, '\x80');
  const std::size_t used = (total_bytes_ + 1 + kLengthBytes) % kBlockBytes;
  end.append((kBlockBytes - used) % kBlockBytes, '\0');
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    end.push_back(static_cast<char>(bits >> (8U * (kLengthBytes - 1 - i))));
  }
  update(end);
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const std::uint32_t word = state_[i / kWordBytes];
    digest[i] = static_cast<std::uint8_t>(word >> (8U * (kWordBytes - 1 - i % kWordBytes)));
  }
  return digest;
}

Digest sha256(std::string_view message) {
  Sha256 sum;
  sum.update(message);
  return sum.finish();
}

Digest hmac_sha256(std::string_view key, std::string_view message) {
  constexpr std::size_t kBlockBytes = 64;
  std::string padded = key.size() > kBlockBytes ? bytes_of(sha256(key)) : std::string(key);
  padded.resize(kBlockBytes, '\0');
  std::string inner = padded;
  std::string outer = padded;
  for (char& byte : inner) byte = static_cast<char>(byte ^ 0x36);
  for (char& byte : outer) byte = static_cast<char>(byte ^ 0x5c);
  Sha256 sum;
  sum.update(inner);
  sum.update(message);
  return sha256(outer + bytes_of(sum.finish()));
}

std::string bytes_of(const Digest& digest) { return {digest.begin(), digest.end()}; }

std::string hex_of(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : digest) {
    out.push_back(kDigits[byte >> 4U]);
    out.push_back(kDigits[byte & 15U]);
  }
  return out;
}

}  // namespace venturi::backend::s3

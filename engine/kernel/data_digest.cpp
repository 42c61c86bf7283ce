// The MD5 digest of each line.
#include <fmt/format.h>

#include <cstring>

#include "kernel/big_data.hpp"
#include "kernel/md5.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"
#include "kernel/text_lines.hpp"

namespace venturi::kernel {

const Description& data_digest_description();
const Description& data_digest_description() {
  static const Description description =
      big_data_description("the MD5 digest of each of some generated lines", "1000000");
  return description;
}

namespace {

/// A digest as a number; the sum of all does not depend on their order.
std::uint64_t number_of(const std::array<std::uint8_t, 16>& digest) {
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

/// RFC 1321, A.5: a text of no block, of less than one, and of more than one.
void check_code() {
  struct Known {
    const char* text;
    const char* digest;
  };
  static constexpr Known kKnown[] = {
      {"", "d41d8cd98f00b204e9800998ecf8427e"},
      {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
      {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "57edf4a22be3c955ac49da2e2107b67a"}};
  for (const Known& known : kKnown) {
    std::string found;
    for (const std::uint8_t byte : md5_of(known.text)) found += fmt::format("{:02x}", byte);
    if (found == known.digest) continue;
    throw wrong_value(
        fmt::format("data_digest: MD5 of '{}' is {}, not {}", known.text, found, known.digest));
  }
}

void measure(const Environment& environment, schema::KernelResult& out) {
  environment.together(check_code);
  const TextLines lines(environment.seed);
  BigData data(environment, "data_digest",
               [&](std::uint64_t line, std::string& text) { lines.append(line, text); });
  std::uint64_t wanted = 0;
  std::string line;
  for (std::uint64_t i = data.first(); i < data.last(); ++i) {
    line.clear();
    lines.append(i, line);
    wanted += number_of(md5_of({line.data(), line.size() - 1}));
  }
  wanted = environment.group.sum(wanted);
  data.sample(
      [&] {
        std::string digests;
        std::uint64_t sum = 0;
        data.read();
        data.timed(Part::kCompute, [&] {
          each_line(data.input(), [&](std::string_view one) {
            const auto digest = md5_of(one);
            sum += number_of(digest);
            digests.append(reinterpret_cast<const char*>(digest.data()), digest.size());
          });
        });
        sum = data.summed(sum);
        data.write(digests);
        if (data.damages()) ++sum;
        data.check([&] {
          if (sum == wanted) return;
          throw wrong_value(
              fmt::format("data_digest: the digests add up to {:016x}, not {:016x}", sum, wanted));
        });
      },
      out);
  out.facts.push_back({"sum of the digests", fmt::format("{:016x}", wanted)});
}

}  // namespace

const Entry& data_digest_entry();
const Entry& data_digest_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel

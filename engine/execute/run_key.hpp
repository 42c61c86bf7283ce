// The random key of a run: who knows it may say what the run made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace venturi::execute {

/// The name of the key's file in the journal; nobody but its owner may read it.
inline constexpr const char* kKeyName = "key";
/// A file in the journal: the run is over, and what it made was removed. No rank begins after it.
inline constexpr const char* kEndedName = "ended";

/// 128 random bits.
struct RunKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const RunKey&) const = default;
  /// 32 hexadecimal digits.
  [[nodiscard]] std::string text() const;
};

/// The key of a journal, which is made if there is none. Throws base::Error (exit 5) if the journal
/// cannot be written: without it nothing would list what the run makes.
RunKey make_key(const std::string& journal);

/// The key of a journal; nothing where there is none.
std::optional<RunKey> read_key(const std::string& journal);

}  // namespace venturi::execute

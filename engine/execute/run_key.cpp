// The key is written before the first file of a run, and read by whoever removes files.
#include "execute/run_key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace venturi::execute {
namespace {

constexpr std::size_t kDigits = 16;

bool parse_half(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  return error == std::errc{} && end == text.data() + text.size();
}

/// A regular file of this user without another name.
bool is_own_file(const std::string& name) {
  struct stat status{};
  return ::lstat(name.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
         status.st_uid == ::geteuid();
}

}  // namespace

std::string RunKey::text() const { return fmt::format("{:016x}{:016x}", high, low); }

std::optional<RunKey> read_key(const std::string& journal) {
  const std::string name = journal + "/" + kKeyName;
  const base::Descriptor file(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::array<char, 2 * kDigits> text{};
  if (!file || !is_own_file(name) ||
      ::read(file.get(), text.data(), text.size()) != ssize_t{2 * kDigits}) {
    return std::nullopt;
  }
  const std::string_view digits(text.data(), text.size());
  RunKey key;
  const bool fine = parse_half(digits.substr(0, kDigits), key.high) &&
                    parse_half(digits.substr(kDigits), key.low);
  return fine ? std::optional(key) : std::nullopt;
}

RunKey make_key(const std::string& journal) {
  if (const auto known = read_key(journal)) return *known;
  const std::string name = journal + "/" + kKeyName;
  RunKey key;
  if (::getrandom(&key, sizeof key, 0) != ssize_t{sizeof key}) {
    throw base::target_error(name, fmt::format("no random numbers: {}", std::strerror(errno)));
  }
  // Of an earlier start there may be one that was not written to its end.
  if (is_own_file(name)) ::unlink(name.c_str());
  const base::Descriptor file(
      ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string text = key.text() + "\n";
  ssize_t written = -1;
  do {
    if (file) written = ::write(file.get(), text.data(), text.size());
  } while (file && written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(text.size())) {
    throw base::target_error(name,
                             fmt::format("cannot write the journal: {}", std::strerror(errno)));
  }
  return key;
}

}  // namespace venturi::execute

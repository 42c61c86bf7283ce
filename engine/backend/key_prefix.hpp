// With what the keys of a run begin.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace venturi::backend {

/// The prefix with a `/` behind it; empty stays empty. Throws base::Error (exit 2) unless it is
/// one.
inline std::string key_prefix(std::string text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
  const bool is_fine = text.find_first_not_of(kAllowed) == std::string::npos &&
                       !text.starts_with('/') && text.find("..") == std::string::npos &&
                       text.find("//") == std::string::npos;
  if (!is_fine) {
    throw base::plan_error("options.prefix", fmt::format("'{}' is no prefix of keys", text),
                           "letters, digits, - _ . and /, not beginning with /");
  }
  return text.empty() || text.ends_with('/') ? text : text + "/";
}

}  // namespace venturi::backend

// Signing requests to S3: the canonical request, the key of the day, the signature.
#include "backend/s3/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "backend/s3/sha256.hpp"

namespace venturi::backend::s3 {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kLastScope = "aws4_request";
constexpr std::size_t kDateCharacters = 8;

/// ASCII alone, whatever the locale says.
bool is_unreserved(char byte) {
  return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
         (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

std::string lower(std::string text) {
  for (char& byte : text) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  }
  return text;
}

/// Without spaces at both ends, and with one space for several within.
std::string trimmed(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    const bool is_space = byte == ' ' || byte == '\t';
    if (!is_space) {
      out.push_back(byte);
    } else if (!out.empty() && out.back() != ' ') {
      out.push_back(' ');
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

/// Headers by their names in lower case; values of the same name are joined in their order.
std::vector<Field> canonical_headers(const std::vector<Field>& headers) {
  std::vector<Field> found;
  for (const Field& header : headers) found.push_back({lower(header.name), trimmed(header.value)});
  std::stable_sort(found.begin(), found.end(),
                   [](const Field& a, const Field& b) { return a.name < b.name; });
  std::vector<Field> joined;
  for (Field& header : found) {
    if (!joined.empty() && joined.back().name == header.name) {
      joined.back().value += "," + header.value;
    } else {
      joined.push_back(std::move(header));
    }
  }
  return joined;
}

/// The names of signed headers: `host;x-amz-date`.
std::string signed_names(const std::vector<Field>& canonical) {
  std::string out;
  for (const Field& header : canonical) out += (out.empty() ? "" : ";") + header.name;
  return out;
}

std::string key_for(const SigningScope& scope, const Credentials& credentials) {
  std::string key = "AWS4" + credentials.secret;
  const std::string date = scope.time.substr(0, kDateCharacters);
  for (const std::string_view part : {std::string_view(date), std::string_view(scope.region),
                                      std::string_view(scope.service), kLastScope}) {
    key = bytes_of(hmac_sha256(key, part));
  }
  return key;
}

}  // namespace

std::string SigningScope::text() const {
  return fmt::format("{}/{}/{}/{}", time.substr(0, kDateCharacters), region, service, kLastScope);
}

std::string percent_encoded(std::string_view text, bool keeps_slashes) {
  std::string out;
  for (const char byte : text) {
    if (is_unreserved(byte) || (keeps_slashes && byte == '/')) {
      out.push_back(byte);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
    }
  }
  return out;
}

std::string canonical_query(const std::vector<Field>& query) {
  std::vector<Field> encoded;
  for (const Field& one : query) {
    encoded.push_back({percent_encoded(one.name, false), percent_encoded(one.value, false)});
  }
  std::sort(encoded.begin(), encoded.end(), [](const Field& a, const Field& b) {
    return std::tie(a.name, a.value) < std::tie(b.name, b.value);
  });
  std::string out;
  for (const Field& one : encoded) out += (out.empty() ? "" : "&") + one.name + "=" + one.value;
  return out;
}

std::string canonical_request(const HttpRequest& request) {
  const std::vector<Field> headers = canonical_headers(request.headers);
  std::string lines;
  for (const Field& header : headers) lines += header.name + ":" + header.value + "\n";
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, percent_encoded(request.path, true),
                     canonical_query(request.query), lines, signed_names(headers),
                     request.payload_hash);
}

std::string text_to_sign(const HttpRequest& request, const SigningScope& scope) {
  return fmt::format("{}\n{}\n{}\n{}", kAlgorithm, scope.time, scope.text(),
                     hex_of(sha256(canonical_request(request))));
}

std::string signature(const HttpRequest& request, const SigningScope& scope,
                      const Credentials& credentials) {
  return hex_of(hmac_sha256(key_for(scope, credentials), text_to_sign(request, scope)));
}

std::string authorization(const HttpRequest& request, const SigningScope& scope,
                          const Credentials& credentials) {
  return fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                     credentials.key_id, scope.text(),
                     signed_names(canonical_headers(request.headers)),
                     signature(request, scope, credentials));
}

}  // namespace venturi::backend::s3

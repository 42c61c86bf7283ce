// Signatures of requests to S3 by version 4 of Amazon's scheme: pure functions of the request.
//
// The scheme: the request in one canonical text, its digest in a text to sign, and a key that is
// derived from the secret for one day, region and service.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace venturi::backend::s3 {

/// A name with its value: a header or a parameter of the query.
struct Field {
  std::string name;
  std::string value;
};

/// What is signed of a request. Nothing here is percent-encoded.
struct HttpRequest {
  std::string method;
  /// From the root of the host: `/` or `/bucket/key`.
  std::string path = "/";
  std::vector<Field> query = {};
  /// All headers that are signed; `host` and `x-amz-date` must be among them.
  std::vector<Field> headers = {};
  /// The digest of the body in hexadecimal, or `UNSIGNED-PAYLOAD`.
  std::string payload_hash = {};
};

struct Credentials {
  std::string key_id;
  std::string secret;
};

/// Where and when a signature holds.
struct SigningScope {
  /// In UTC, as `x-amz-date` has it: `20130524T000000Z`.
  std::string time;
  std::string region;
  std::string service = "s3";

  /// `20130524/us-east-1/s3/aws4_request`.
  [[nodiscard]] std::string text() const;
};

/// A text in which every byte but letters, digits and `-._~` is percent-encoded; a slash stays if
/// `keeps_slashes`.
[[nodiscard]] std::string percent_encoded(std::string_view text, bool keeps_slashes);
/// The query as it must be sent: encoded, in the order of the encoded names, then values.
[[nodiscard]] std::string canonical_query(const std::vector<Field>& query);
/// The request in the one form that is signed.
[[nodiscard]] std::string canonical_request(const HttpRequest& request);
/// The text whose code is the signature.
[[nodiscard]] std::string text_to_sign(const HttpRequest& request, const SigningScope& scope);
/// The signature in hexadecimal.
[[nodiscard]] std::string signature(const HttpRequest& request, const SigningScope& scope,
                                    const Credentials& credentials);
/// The value of the header `authorization`.
[[nodiscard]] std::string authorization(const HttpRequest& request, const SigningScope& scope,
                                        const Credentials& credentials);

}  // namespace venturi::backend::s3

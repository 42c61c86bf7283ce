// Building, signing and sending requests; what an answer means as an errno.
#include "backend/s3/client.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <chrono>

#include "backend/s3/sha256.hpp"
#include "backend/s3/xml.hpp"

namespace venturi::backend::s3 {
namespace {

constexpr const char* kOwnerHeader = "x-amz-meta-venturi-run";
constexpr long kNoSuchMethod = 501;
constexpr long kPartial = 206;
constexpr long kBehindEnd = 416;

int error_of(long status) {
  switch (status) {
    case 400:
      return EINVAL;
    case 401:
    case 403:
      return EACCES;
    case 404:
      return ENOENT;
    case 409:
    case 412:
      return EEXIST;
    case 429:
    case 503:
      return EAGAIN;
    case 405:
    case kNoSuchMethod:
      return ENOTSUP;
    case 507:
      return ENOSPC;
    default:
      return EIO;
  }
}

/// `http://host:port` without the scheme.
std::string host_of(const std::string& endpoint) {
  return endpoint.substr(endpoint.find("://") + 3);
}

}  // namespace

Answer Client::send(const Call& call) {
  HttpRequest request{.method = call.method,
                      .path = "/" + account_.bucket + (call.key.empty() ? "" : "/" + call.key),
                      .query = call.query,
                      .headers = call.headers,
                      .payload_hash = "UNSIGNED-PAYLOAD"};
  if (account_.signs_bodies) request.payload_hash = hex_of(sha256(call.body));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const SigningScope scope{.time = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now)),
                           .region = account_.region};
  request.headers.push_back({"host", host_of(account_.endpoint)});
  request.headers.push_back({"x-amz-content-sha256", request.payload_hash});
  request.headers.push_back({"x-amz-date", scope.time});
  if (!account_.session_token.empty()) {
    request.headers.push_back({"x-amz-security-token", account_.session_token});
  }
  Outgoing outgoing{.method = call.method,
                    .url = account_.endpoint + percent_encoded(request.path, true),
                    .headers = request.headers,
                    .body = call.body,
                    .sink = call.sink};
  if (!call.query.empty()) outgoing.url += "?" + canonical_query(call.query);
  outgoing.headers.push_back(
      {"authorization", authorization(request, scope, account_.credentials)});
  return http_.send(outgoing);
}

/// Servers that do not know conditional writes may refuse them; the caller has looked before.
Answer Client::create(Call call, Existing existing) {
  const bool is_conditional = existing == Existing::kRefuse && !is_unconditional_;
  const std::vector<Field> plain = call.headers;
  if (is_conditional) call.headers.push_back({"if-none-match", "*"});
  Answer answer = send(call);
  if (!is_conditional || answer.status != kNoSuchMethod) return answer;
  is_unconditional_ = true;
  call.headers = plain;
  return send(call);
}

int Client::check(const Call& call, const Answer& answer) {
  const bool is_error = answer.body.find("<Error>") != std::string::npos;
  if (answer.is_fine() && !is_error) {
    complaint_.clear();
    return 0;
  }
  const std::string what = fmt::format("{} {}/{}{}{}", call.method, account_.endpoint,
                                       account_.bucket, call.key.empty() ? "" : "/", call.key);
  if (answer.status == 0) {
    complaint_ = fmt::format("{}: {}", what, answer.failure);
    return answer.error;
  }
  const std::string code = text_of(answer.body, "Code");
  const std::string message = text_of(answer.body, "Message");
  complaint_ = fmt::format("{}: the server answered {}{}{}{}{}", what, answer.status,
                           code.empty() ? "" : " ", code, message.empty() ? "" : ": ", message);
  return answer.is_fine() ? EIO : error_of(answer.status);
}

int Client::put(const std::string& key, std::string_view body, Existing existing) {
  const Call call{
      .method = "PUT", .key = key, .headers = {{kOwnerHeader, account_.owner}}, .body = body};
  return check(call, create(call, existing));
}

int Client::head(const std::string& key, ObjectFacts& out) {
  const Call call{.method = "HEAD", .key = key};
  const Answer answer = send(call);
  if (const int error = check(call, answer)) return error;
  const std::string length = answer.header("content-length");
  std::from_chars(length.data(), length.data() + length.size(), out.bytes);
  out.etag = answer.header("etag");
  out.owner = answer.header(kOwnerHeader);
  return 0;
}

int Client::get(const std::string& key, std::uint64_t offset, std::span<std::byte> data,
                std::size_t& got) {
  got = 0;
  if (data.empty()) return 0;
  const Call call{
      .method = "GET",
      .key = key,
      .headers = {{"range", fmt::format("bytes={}-{}", offset, offset + data.size() - 1)}},
      .sink = data};
  const Answer answer = send(call);
  if (answer.status == kBehindEnd) return 0;
  if (const int error = check(call, answer)) return error;
  if (answer.status != kPartial && offset != 0) {
    complaint_ = "the server does not know ranged reads";
    return ENOTSUP;
  }
  got = answer.sunk_bytes;
  return 0;
}

int Client::remove(const std::string& key, const std::string& etag) {
  Call call{.method = "DELETE", .key = key};
  if (!etag.empty()) call.headers.push_back({"if-match", etag});
  return check(call, send(call));
}

int Client::begin(Upload& upload) {
  const Call call{.method = "POST",
                  .key = upload.key,
                  .query = {{"uploads", ""}},
                  .headers = {{kOwnerHeader, account_.owner}}};
  const Answer answer = send(call);
  if (const int error = check(call, answer)) return error;
  upload.id = text_of(answer.body, "UploadId");
  if (!upload.id.empty()) return 0;
  complaint_ = "the server began an upload and did not name it";
  return EIO;
}

int Client::put_part(Upload& upload, std::string_view body) {
  const Call call{.method = "PUT",
                  .key = upload.key,
                  .query = {{"partNumber", fmt::format("{}", upload.parts.size() + 1)},
                            {"uploadId", upload.id}},
                  .body = body};
  const Answer answer = send(call);
  if (const int error = check(call, answer)) return error;
  upload.parts.push_back(answer.header("etag"));
  return 0;
}

int Client::complete(const Upload& upload, Existing existing) {
  std::string body = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < upload.parts.size(); ++i) {
    body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1,
                        escaped(upload.parts[i]));
  }
  body += "</CompleteMultipartUpload>";
  const Call call{
      .method = "POST", .key = upload.key, .query = {{"uploadId", upload.id}}, .body = body};
  return check(call, create(call, existing));
}

int Client::abort(const Upload& upload) {
  const Call call{.method = "DELETE", .key = upload.key, .query = {{"uploadId", upload.id}}};
  return check(call, send(call));
}

int Client::list(const std::string& prefix, std::vector<std::string>& keys) {
  std::string token;
  do {
    Call call{.method = "GET", .query = {{"list-type", "2"}, {"prefix", prefix}}};
    if (!token.empty()) call.query.push_back({"continuation-token", token});
    const Answer answer = send(call);
    if (const int error = check(call, answer)) return error;
    for (const std::string_view each : elements(answer.body, "Contents")) {
      keys.push_back(text_of(each, "Key"));
    }
    token = text_of(answer.body, "NextContinuationToken");
  } while (!token.empty());
  return 0;
}

int Client::list_uploads(const std::string& prefix, std::vector<Upload>& uploads) {
  std::string key_marker;
  std::string id_marker;
  do {
    Call call{.method = "GET", .query = {{"uploads", ""}, {"prefix", prefix}}};
    if (!key_marker.empty()) call.query.push_back({"key-marker", key_marker});
    if (!id_marker.empty()) call.query.push_back({"upload-id-marker", id_marker});
    const Answer answer = send(call);
    if (const int error = check(call, answer)) return error;
    for (const std::string_view each : elements(answer.body, "Upload")) {
      Upload upload{.key = text_of(each, "Key"), .id = text_of(each, "UploadId")};
      if (upload.key.starts_with(prefix)) uploads.push_back(std::move(upload));
    }
    const bool goes_on = text_of(answer.body, "IsTruncated") == "true";
    key_marker = goes_on ? text_of(answer.body, "NextKeyMarker") : "";
    id_marker = goes_on ? text_of(answer.body, "NextUploadIdMarker") : "";
  } while (!key_marker.empty());
  return 0;
}

}  // namespace venturi::backend::s3

// The calls of libcurl; nothing else includes its header.
#include "backend/s3/http.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace venturi::backend::s3 {
namespace {

constexpr long kConnectS = 10;
/// Less than a byte a second for so long is no answer.
constexpr long kSilentS = 60;

/// libcurl sets itself up once per process.
void set_up_library() {
  static const CURLcode result = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  if (result != CURLE_OK) throw base::target_error("libcurl", ::curl_easy_strerror(result));
}

int error_of(CURLcode result) {
  switch (result) {
    case CURLE_COULDNT_CONNECT:
      return ECONNREFUSED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return EHOSTUNREACH;
    case CURLE_OPERATION_TIMEDOUT:
      return ETIMEDOUT;
    default:
      return EIO;
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  return out;
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

struct FreeList {
  void operator()(curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, FreeList>;

void add(List& list, const std::string& line) {
  curl_slist* longer = ::curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(list.release());
  list.reset(longer);
}

}  // namespace

/// What the callbacks of one request share.
struct Http::Transfer {
  Answer answer = {};
  std::string_view unsent = {};
  std::span<std::byte> sink = {};
  const std::function<void()>* poll = nullptr;
  std::exception_ptr thrown = {};
  CURL* curl = nullptr;
  List headers = {};

  static std::size_t take_body(char* data, std::size_t, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    long status = 0;
    ::curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
    Answer& answer = transfer.answer;
    const bool sinks = transfer.sink.data() != nullptr && status >= 200 && status < 300;
    if (!sinks) {
      constexpr std::size_t kMostText = std::size_t{64} << 20U;
      if (answer.body.size() + count > kMostText) return 0;
      answer.body.append(data, count);
      return count;
    }
    const std::size_t room =
        transfer.sink.size() - std::min(transfer.sink.size(), answer.sunk_bytes);
    std::memcpy(transfer.sink.data() + answer.sunk_bytes, data, std::min(room, count));
    answer.sunk_bytes += std::min(room, count);
    return count;
  }

  static std::size_t take_header(char* data, std::size_t, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view line(data, count);
    // After `100 Continue` the real answer follows.
    if (line.starts_with("HTTP/")) transfer.answer.headers.clear();
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      transfer.answer.headers.push_back(
          {lower(line.substr(0, colon)), std::string(without_spaces(line.substr(colon + 1)))});
    }
    return count;
  }

  static std::size_t give_body(char* to, std::size_t, std::size_t room, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::size_t count = std::min(room, transfer.unsent.size());
    std::memcpy(to, transfer.unsent.data(), count);
    transfer.unsent.remove_prefix(count);
    return count;
  }

  static int wait(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(self);
    if (!*transfer.poll) return 0;
    try {
      (*transfer.poll)();
    } catch (...) {
      transfer.thrown = std::current_exception();
      return 1;
    }
    return 0;
  }
};

std::string Answer::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const Field& each) { return each.name == name; });
  return found == headers.end() ? "" : found->value;
}

Http::Http(std::function<void()> poll) : curl_(nullptr), poll_(std::move(poll)) {
  set_up_library();
  curl_ = ::curl_easy_init();
  if (curl_ == nullptr) throw std::bad_alloc();
}

Http::~Http() { ::curl_easy_cleanup(static_cast<CURL*>(curl_)); }

void Http::prepare(const Outgoing& request, Transfer& transfer) {
  auto* curl = static_cast<CURL*>(curl_);
  ::curl_easy_reset(curl);  // keeps the connection
  transfer.curl = curl;
  transfer.unsent = request.body;
  transfer.sink = request.sink;
  transfer.poll = &poll_;
  for (const Field& header : request.headers) {
    add(transfer.headers, header.name + ": " + header.value);
  }
  add(transfer.headers, "Expect:");
  ::curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer.headers.get());
  ::curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  ::curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectS);
  ::curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  ::curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSilentS);
  ::curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::take_body);
  ::curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  ::curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Transfer::take_header);
  ::curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  ::curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  ::curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Transfer::wait);
  ::curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  if (request.method == "HEAD") ::curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  if (request.method != "PUT" && request.method != "POST") return;
  ::curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
  ::curl_easy_setopt(curl, CURLOPT_READFUNCTION, &Transfer::give_body);
  ::curl_easy_setopt(curl, CURLOPT_READDATA, &transfer);
  ::curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
}

Answer Http::send(const Outgoing& request) {
  Transfer transfer;
  prepare(request, transfer);
  const CURLcode result = ::curl_easy_perform(transfer.curl);
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  Answer& answer = transfer.answer;
  if (result == CURLE_OK) {
    ::curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &answer.status);
  } else {
    answer.failure = ::curl_easy_strerror(result);
    answer.error = error_of(result);
  }
  return std::move(answer);
}

}  // namespace venturi::backend::s3

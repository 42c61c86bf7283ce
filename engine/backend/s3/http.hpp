// One HTTP request after the other to one server, through libcurl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/s3/signature.hpp"

namespace venturi::backend::s3 {

/// A request as it leaves.
struct Outgoing {
  std::string method;
  std::string url;
  std::vector<Field> headers = {};
  std::string_view body = {};
  /// Where the body of a successful answer goes; what does not fit is counted and dropped.
  std::span<std::byte> sink = {};
};

/// What came back.
struct Answer {
  /// 0: no answer; `failure` and `error` (an errno) say why.
  long status = 0;
  std::string failure = {};
  int error = 0;
  /// Headers, their names in lower case.
  std::vector<Field> headers = {};
  /// Of the body, what did not go into the sink.
  std::string body = {};
  std::size_t sunk_bytes = 0;

  [[nodiscard]] bool is_fine() const noexcept { return status >= 200 && status < 300; }
  /// The value of a header; empty if there is none.
  [[nodiscard]] std::string header(std::string_view name) const;
};

/// A connection that stays open between requests.
class Http {
 public:
  /// `poll` is called while a request waits, and may throw.
  explicit Http(std::function<void()> poll);
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;
  ~Http();

  Answer send(const Outgoing& request);

 private:
  struct Transfer;

  void prepare(const Outgoing& request, Transfer& transfer);

  void* curl_;
  std::function<void()> poll_;
};

}  // namespace venturi::backend::s3

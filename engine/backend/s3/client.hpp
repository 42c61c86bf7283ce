// The requests to S3 that a run makes: objects of one bucket by their keys.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/s3/http.hpp"
#include "backend/s3/signature.hpp"

namespace venturi::backend::s3 {

/// Where the bucket is, and who asks. Credentials never leave this object but as a signature.
struct Account {
  /// `https://host` or `http://host:port`, without a slash at its end.
  std::string endpoint;
  std::string bucket;
  std::string region;
  Credentials credentials;
  /// Of temporary credentials; else empty.
  std::string session_token;
  /// The digest of each body is signed, too.
  bool signs_bodies = false;
  /// The random key of the run, which its objects bear.
  std::string owner;
};

/// What a server says of an object.
struct ObjectFacts {
  std::uint64_t bytes = 0;
  std::string etag;
  /// The run key that it bears; empty where it has none.
  std::string owner;
};

/// How a write treats an object that has the key already.
enum class Existing : std::uint8_t { kRefuse, kReplace };

/// An upload that is under way.
struct Upload {
  std::string key;
  std::string id;
  /// The etags of its parts, in their order.
  std::vector<std::string> parts = {};
};

/// Functions return an errno, 0 meaning success; `complaint` then says what the server answered.
class Client {
 public:
  Client(Account account, std::function<void()> poll)
      : account_(std::move(account)), http_(std::move(poll)) {}

  int put(const std::string& key, std::string_view body, Existing existing);
  int head(const std::string& key, ObjectFacts& out);
  /// Reads from an offset on; `got` is less than asked for where the object ends.
  int get(const std::string& key, std::uint64_t offset, std::span<std::byte> data,
          std::size_t& got);
  /// Removes the object with this etag; empty: whatever it is.
  int remove(const std::string& key, const std::string& etag);

  int begin(Upload& upload);
  int put_part(Upload& upload, std::string_view body);
  int complete(const Upload& upload, Existing existing);
  int abort(const Upload& upload);

  /// All keys that begin with a prefix, and the uploads under way.
  int list(const std::string& prefix, std::vector<std::string>& keys);
  int list_uploads(const std::string& prefix, std::vector<Upload>& uploads);

  [[nodiscard]] const Account& account() const noexcept { return account_; }
  [[nodiscard]] const char* complaint() const noexcept { return complaint_.c_str(); }
  void complain(std::string what) { complaint_ = std::move(what); }

 private:
  struct Call {
    std::string method;
    /// Empty: the bucket itself.
    std::string key = {};
    std::vector<Field> query = {};
    std::vector<Field> headers = {};
    std::string_view body = {};
    std::span<std::byte> sink = {};
  };

  Answer send(const Call& call);
  Answer create(Call call, Existing existing);
  int check(const Call& call, const Answer& answer);

  Account account_;
  Http http_;
  std::string complaint_;
  /// The server does not know conditional writes.
  bool is_unconditional_ = false;
};

}  // namespace venturi::backend::s3

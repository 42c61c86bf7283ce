// Objects of an S3 server by their keys: written once from their beginning, read at any offset.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/key_prefix.hpp"
#include "backend/keyed_storage.hpp"
#include "backend/s3/client.hpp"
#include "backend/table.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace venturi::backend {
namespace {

using s3::Existing;

/// The server takes no more parts of one object.
constexpr std::size_t kMostParts = 10'000;
constexpr const char* kInOrder =
    "an object is written once, from its beginning on and without gaps; for writes elsewhere "
    "choose an interface of files";
constexpr const char* kWhole =
    "an object can be read when it is whole: put a 'sync' or a 'close' behind the writes";

/// An open object.
struct Object {
  std::string name = {};
  Identity identity = {};
  /// It can be written: it is new, or holds nothing yet.
  bool is_writable = false;
  /// It was made whole, so nothing can follow.
  bool is_whole = false;
  Existing existing = Existing::kReplace;
  std::uint64_t written_bytes = 0;
  std::string pending = {};
  s3::Upload upload = {};
};

class S3 final : public KeyedStorage {
 public:
  S3(const Environment& environment, s3::Account account, const std::string& prefix,
     std::uint64_t part_bytes)
      : clock_(environment.clock),
        prefix_(prefix + environment.root.substr(environment.root.rfind('/') + 1) + "/"),
        part_bytes_(part_bytes),
        client_(std::move(account), environment.poll) {
    const s3::Account& known = client_.account();
    place_ = base::kKeyDevice |
             base::key_of(fmt::format("{} {} {}", known.endpoint, known.bucket, prefix_));
  }

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override;
  int close(Handle file) override {
    const int error = finish(objects_.at(file));
    objects_.erase(file);
    return error;
  }
  int sync(Handle file, schema::SyncMode mode) override {
    if (mode == schema::SyncMode::kFileSystem) return ENOTSUP;
    const bool hands_over = mode == schema::SyncMode::kNone || mode == schema::SyncMode::kFlush;
    return hands_over ? 0 : finish(objects_.at(file));
  }
  int identify(Handle file, Identity& out) override {
    out = objects_.at(file).identity;
    return 0;
  }
  int look_up(Directory, const char* name, Identity& out) override {
    s3::ObjectFacts facts;
    if (const int error = client_.head(key(name), facts)) return error;
    out = identity_of(name, facts);
    return 0;
  }
  int stat(Directory, const char* name) override {
    s3::ObjectFacts facts;
    return client_.head(key(name), facts);
  }
  int unlink(Directory, const char* name) override { return client_.remove(key(name), ""); }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override;

  [[nodiscard]] const char* hint(int) const noexcept override { return client_.complaint(); }

 private:
  [[nodiscard]] std::uint64_t place() const noexcept override { return place_; }
  [[nodiscard]] std::string location(const std::string& name) const override {
    return fmt::format("s3://{}/{}{}", client_.account().bucket, prefix_, name);
  }
  [[nodiscard]] const char* complaint() const noexcept override { return client_.complaint(); }
  int claim(const std::string& marker, const std::string& text, Identity& out) override;
  int remove(const std::string& name) override;
  int list(std::vector<std::string>& names) override;

  [[nodiscard]] std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  [[nodiscard]] Identity own_identity(std::string_view name) const;
  [[nodiscard]] Identity identity_of(const char* name, const s3::ObjectFacts& facts) const;
  int complain(int error, std::string what) {
    client_.complain(std::move(what));
    return error;
  }
  int write(Object& object, const Request& request);
  int send_part(Object& object, std::string_view part);
  int finish(Object& object);
  int give_up(Object& object, int error);

  base::Clock* clock_;
  std::string prefix_;
  std::uint64_t part_bytes_;
  s3::Client client_;
  std::uint64_t place_ = 0;
  Handle next_ = 0;
  std::unordered_map<Handle, Object> objects_;
};

/// The same for an object before and after it is there: nobody else knows the run's key.
Identity S3::own_identity(std::string_view name) const {
  const std::uint64_t owner = base::key_of(client_.account().owner);
  return {.device = place_,
          .inode = base::key_of(name),
          .mark = base::combine(owner, base::key_of(name)) | 1U};
}

Identity S3::identity_of(const char* name, const s3::ObjectFacts& facts) const {
  Identity found = own_identity(name);
  found.bytes = facts.bytes;
  if (facts.owner == client_.account().owner) return found;
  found.mark = base::key_of(facts.etag) | 1U;
  found.regular = false;  // somebody else's
  return found;
}

int S3::open(Directory at, const char* name, OpenMode mode, Handle& out) {
  if (at != kRoot || mode == OpenMode::kRead) return ENOTSUP;
  Object object{.name = name, .identity = own_identity(name)};
  s3::ObjectFacts facts;
  const int error = client_.head(key(name), facts);
  if (mode == OpenMode::kCreate) {
    if (error == 0) return EEXIST;
    if (error != ENOENT) return error;
    object.existing = Existing::kRefuse;
    object.is_writable = true;
  } else {
    if (error != 0) return error;
    object.identity = identity_of(name, facts);
    if (mode == OpenMode::kTruncate && !object.identity.regular) return EEXIST;
    object.is_writable = mode == OpenMode::kTruncate;
    object.is_whole = !object.is_writable;
  }
  out = next_++;
  objects_.emplace(out, std::move(object));
  return 0;
}

int S3::send_part(Object& object, std::string_view part) {
  if (object.upload.id.empty()) {
    object.upload.key = key(object.name);
    if (const int error = client_.begin(object.upload)) return error;
  }
  if (object.upload.parts.size() == kMostParts) {
    return complain(
        EFBIG, fmt::format("an object has at most {} parts: set a larger part_bytes", kMostParts));
  }
  return client_.put_part(object.upload, part);
}

int S3::write(Object& object, const Request& request) {
  const bool fits = object.is_writable && request.offset == object.written_bytes;
  if (!fits) return complain(EINVAL, kInOrder);
  std::string_view data(reinterpret_cast<const char*>(request.data), request.bytes);
  while (!data.empty()) {
    // A full part leaves when more follows: the last one may have any size.
    if (object.pending.size() == part_bytes_) {
      if (const int error = send_part(object, object.pending)) return give_up(object, error);
      object.pending.clear();
    }
    const std::size_t count =
        std::min<std::size_t>(data.size(), part_bytes_ - object.pending.size());
    object.pending.append(data.substr(0, count));
    data.remove_prefix(count);
  }
  object.written_bytes += request.bytes;
  return 0;
}

/// What fails is not tried again: the object is not whole, and nothing can follow.
int S3::finish(Object& object) {
  if (!object.is_writable || object.is_whole) return 0;
  object.is_writable = false;
  if (object.upload.id.empty()) {
    const int error = client_.put(key(object.name), object.pending, object.existing);
    object.is_whole = error == 0;
    object.pending = {};
    return error;
  }
  int error = send_part(object, object.pending);
  if (error == 0) error = client_.complete(object.upload, object.existing);
  if (error != 0) return give_up(object, error);
  object.pending = {};
  object.is_whole = true;
  return 0;
}

/// An object whose part is missing is not made.
int S3::give_up(Object& object, int error) {
  const std::string complaint = client_.complaint();
  object.is_writable = false;
  object.pending = {};
  if (!object.upload.id.empty()) client_.abort(object.upload);
  return complain(error, complaint);
}

std::size_t S3::submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                       std::span<Completion> completions) {
  Object& object = objects_.at(file);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    std::size_t moved = request.bytes;
    int error = 0;
    if (direction == schema::Direction::kWrite) {
      error = write(object, request);
    } else if (!object.is_whole) {
      error = complain(EBUSY, kWhole);
    } else {
      error = client_.get(key(object.name), request.offset, {request.data, request.bytes}, moved);
    }
    completions[i] = {clock_->now_ns(), error != 0 ? 0 : moved, error};
    if (error != 0 || moved != request.bytes) return i + 1;
  }
  return requests.size();
}

int S3::claim(const std::string& marker, const std::string& text, Identity& out) {
  s3::ObjectFacts facts;
  const int found = client_.head(key(marker), facts);
  if (found == 0) return complain(EEXIST, "somebody has this prefix; choose another one");
  // What HEAD is refused for has no words, so the write is tried for the server's reason.
  if (found != ENOENT && found != EACCES) return found;
  if (const int error = client_.put(key(marker), text, Existing::kRefuse)) return error;
  out = own_identity(marker);
  return 0;
}

int S3::remove(const std::string& name) {
  std::vector<s3::Upload> uploads;
  if (const int error = client_.list_uploads(key(name), uploads)) return error;
  for (const s3::Upload& upload : uploads) {
    if (upload.key != key(name)) continue;
    const int error = client_.abort(upload);
    if (error != 0 && error != ENOENT) return error;
  }
  s3::ObjectFacts facts;
  const int error = client_.head(key(name), facts);
  if (error != 0) return error;
  // The etag holds the server to the object that was looked at.
  if (facts.owner != client_.account().owner) return 0;
  return client_.remove(key(name), facts.etag);
}

int S3::list(std::vector<std::string>& names) {
  std::vector<std::string> keys;
  if (const int error = client_.list(prefix_, keys)) return error;
  std::vector<s3::Upload> uploads;
  if (const int error = client_.list_uploads(prefix_, uploads)) return error;
  for (const s3::Upload& upload : uploads) keys.push_back(upload.key);
  for (const std::string& each : keys) {
    if (each.starts_with(prefix_)) names.push_back(each.substr(prefix_.size()));
  }
  return 0;
}

/// A variable of the environment; empty where it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT: one thread
  return value == nullptr ? "" : value;
}

std::string first_of(std::string first, const char* name, const std::string& otherwise) {
  if (first.empty()) first = variable(name);
  return first.empty() ? otherwise : first;
}

/// The endpoint in one form. Throws base::Error (exit 2) unless it is the address of a server.
std::string endpoint_of(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  const std::size_t scheme = text.find("://");
  const bool is_web = text.starts_with("http://") || text.starts_with("https://");
  const std::string host = is_web ? text.substr(scheme + 3) : "";
  if (!host.empty() && host.find_first_of("/?#@ ") == std::string::npos) return text;
  throw base::plan_error("options.endpoint", "it is not the address of a server",
                         "say http://HOST:PORT or https://HOST, without a path or a password");
}

s3::Account account_of(const Entry& entry, const std::vector<schema::Option>& options,
                       const std::string& owner) {
  s3::Account account;
  account.bucket = text_option(entry, options, "bucket");
  if (account.bucket.empty() || account.bucket.find_first_of("/?# ") != std::string::npos) {
    throw base::plan_error("options.bucket", "s3 needs the name of a bucket",
                           "say it in the file's 'options', or --set interface.bucket=NAME");
  }
  const std::string usual = first_of("", "AWS_DEFAULT_REGION", "us-east-1");
  account.region = first_of(text_option(entry, options, "region"), "AWS_REGION", usual);
  account.endpoint =
      endpoint_of(first_of(text_option(entry, options, "endpoint"), "AWS_ENDPOINT_URL",
                           fmt::format("https://s3.{}.amazonaws.com", account.region)));
  account.credentials = {variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")};
  account.session_token = variable("AWS_SESSION_TOKEN");
  account.signs_bodies = boolean_option(entry, options, "sign_bodies");
  account.owner = owner;
  if (account.credentials.key_id.empty() || account.credentials.secret.empty()) {
    throw base::target_error(
        account.endpoint, "s3 has no credentials",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment of the ranks");
  }
  return account;
}

}  // namespace

const Description& s3_description();
const Entry& s3_entry();
const Entry& s3_entry() {
  static const Entry entry{
      s3_description().options, s3_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        return std::make_unique<S3>(environment,
                                    account_of(s3_entry(), options, environment.owner_key),
                                    key_prefix(text_option(s3_entry(), options, "prefix")),
                                    bytes_option(s3_entry(), options, "part_bytes"));
      }};
  return entry;
}

}  // namespace venturi::backend

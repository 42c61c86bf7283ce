// Objects of a Ceph pool by their names, through librados: read and written at any offset.
#include <fmt/format.h>
#include <rados/librados.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/key_prefix.hpp"
#include "backend/keyed_storage.hpp"
#include "backend/table.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace venturi::backend {
namespace {

/// The attribute of an object that bears the random key of the run that made it.
constexpr const char* kOwnerAttribute = "venturi.run";
constexpr const char* kNotOwn = "the object is gone, or somebody else's";

/// What reaches one pool of one cluster.
struct Account {
  std::string conf;
  std::string user;
  std::string pool;
  std::string name_space;
  std::int64_t timeout_s = 0;
};

/// Settings of the client whatever the configuration says: nobody waits for ever for a monitor, and
/// nothing is written to the engine's stderr or beside the cluster's own logs.
void settle(rados_t cluster, const Account& account) {
  const std::string seconds = std::to_string(account.timeout_s);
  const std::array<std::pair<const char*, const char*>, 8> settings{{
      {"client_mount_timeout", seconds.c_str()},
      {"rados_mon_op_timeout", seconds.c_str()},
      {"rados_osd_op_timeout", seconds.c_str()},
      {"log_to_stderr", "false"},
      {"err_to_stderr", "false"},
      {"log_flush_on_exit", "false"},
      {"log_file", ""},
      {"admin_socket", ""},
  }};
  for (const auto& [name, value] : settings) rados_conf_set(cluster, name, value);
}

/// A connection to a pool, in the namespace of the run. Functions return an errno.
class Pool {
 public:
  /// Throws base::Error (exit 5) where the pool cannot be reached.
  explicit Pool(Account account);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    if (io_ != nullptr) rados_ioctx_destroy(io_);
    if (cluster_ != nullptr) rados_shutdown(cluster_);
  }

  [[nodiscard]] rados_ioctx_t io() const noexcept { return io_; }
  [[nodiscard]] const Account& account() const noexcept { return account_; }
  /// The cluster's own name for itself.
  [[nodiscard]] std::string cluster() const {
    std::array<char, 64> text{};
    rados_cluster_fsid(cluster_, text.data(), text.size());
    return text.data();
  }

 private:
  void connect();
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    // A constructor that throws has no destructor.
    if (cluster_ != nullptr) rados_shutdown(cluster_);
    throw base::target_error(fmt::format("rados://{}", account_.pool), what, hint);
  }

  Account account_;
  rados_t cluster_ = nullptr;
  rados_ioctx_t io_ = nullptr;
};

Pool::Pool(Account account) : account_(std::move(account)) {
  if (rados_create2(&cluster_, "ceph", account_.user.c_str(), 0) != 0) {
    cluster_ = nullptr;
    refuse(fmt::format("'{}' is no user of Ceph", account_.user), "say client.NAME");
  }
  const char* conf = account_.conf.empty() ? nullptr : account_.conf.c_str();
  if (const int error = rados_conf_read_file(cluster_, conf)) {
    refuse(fmt::format("the configuration of Ceph{}{} cannot be read: {}", conf ? " " : "",
                       account_.conf, std::strerror(-error)),
           "set the option 'conf', or CEPH_CONF in the environment of the ranks");
  }
  rados_conf_parse_env(cluster_, nullptr);
  settle(cluster_, account_);
  connect();
  if (const int error = rados_ioctx_create(cluster_, account_.pool.c_str(), &io_)) {
    io_ = nullptr;
    if (error == -ENOENT) {
      refuse(fmt::format("the cluster has no pool '{}'", account_.pool),
             "make it (ceph osd pool create), or set the option 'pool'");
    }
    refuse(fmt::format("the pool '{}' cannot be opened: {}", account_.pool, std::strerror(-error)),
           "");
  }
  rados_ioctx_set_namespace(io_, account_.name_space.c_str());
}

void Pool::connect() {
  const int error = -rados_connect(cluster_);
  if (error == 0) return;
  if (error == ETIMEDOUT || error == ETIME) {
    refuse(fmt::format("no monitor of the cluster answered within {} s", account_.timeout_s),
           "check 'mon host' in the configuration, and that the monitors run");
  }
  if (error == EACCES || error == EPERM || error == ENOENT || error == EINVAL) {
    refuse(fmt::format("the monitors did not accept {}: {}", account_.user, std::strerror(error)),
           "check 'user', and 'keyring' in the configuration");
  }
  refuse(fmt::format("no connection to the cluster: {}", std::strerror(error)), "");
}

/// One operation that changes an object, made of parts that are done together or not at all.
class WriteOperation {
 public:
  WriteOperation() : operation_(rados_create_write_op()) {}
  WriteOperation(const WriteOperation&) = delete;
  WriteOperation& operator=(const WriteOperation&) = delete;
  ~WriteOperation() { rados_release_write_op(operation_); }

  [[nodiscard]] rados_write_op_t get() const noexcept { return operation_; }
  /// Nothing is done unless the object bears this key.
  void only_of(const std::string& owner) {
    rados_write_op_cmpxattr(operation_, kOwnerAttribute, LIBRADOS_CMPXATTR_OP_EQ, owner.data(),
                            owner.size());
  }
  /// Nothing is done if the object is there; it bears the key from its first moment.
  void create(const std::string& owner) {
    rados_write_op_create(operation_, LIBRADOS_CREATE_EXCLUSIVE, nullptr);
    rados_write_op_setxattr(operation_, kOwnerAttribute, owner.data(), owner.size());
  }
  int operate(const Pool& pool, const std::string& name) {
    return -rados_write_op_operate(operation_, pool.io(), name.c_str(), nullptr, 0);
  }

 private:
  rados_write_op_t operation_;
};

/// What is known of an object.
struct ObjectFacts {
  std::uint64_t bytes = 0;
  /// The key of the run that made it; empty if no run did.
  std::string owner;
};

struct OpenObject {
  std::string name;
  Identity identity;
};

class Rados final : public KeyedStorage {
 public:
  Rados(const Environment& environment, Account account)
      : clock_(environment.clock), owner_(environment.owner_key), pool_(std::move(account)) {
    place_ = base::kKeyDevice |
             base::key_of(fmt::format("{} {} {}", pool_.cluster(), pool_.account().pool,
                                      pool_.account().name_space));
  }

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override;
  int close(Handle file) override {
    objects_.erase(file);
    return 0;
  }
  /// A write returns when all replicas have it.
  int sync(Handle, schema::SyncMode mode) override {
    return mode == schema::SyncMode::kFileSystem ? ENOTSUP : 0;
  }
  int identify(Handle file, Identity& out) override {
    const OpenObject& object = objects_.at(file);
    return look_up(kRoot, object.name.c_str(), out);
  }
  int look_up(Directory, const char* name, Identity& out) override {
    ObjectFacts facts;
    if (const int error = look(name, facts)) return error;
    out = identity_of(name, facts);
    return 0;
  }
  int stat(Directory, const char* name) override {
    std::uint64_t bytes = 0;
    time_t changed = 0;
    return complain("stat", name, -rados_stat(pool_.io(), name, &bytes, &changed));
  }
  int unlink(Directory, const char* name) override {
    WriteOperation operation;
    operation.only_of(owner_);
    rados_write_op_remove(operation.get());
    return complain("removal", name, operation.operate(pool_, name));
  }
  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override;

  [[nodiscard]] const char* hint(int) const noexcept override { return complaint_.c_str(); }

 private:
  [[nodiscard]] std::uint64_t place() const noexcept override { return place_; }
  [[nodiscard]] std::string location(const std::string& name) const override {
    return fmt::format("rados://{}/{}/{}", pool_.account().pool, pool_.account().name_space, name);
  }
  [[nodiscard]] const char* complaint() const noexcept override { return complaint_.c_str(); }
  int claim(const std::string& marker, const std::string& text, Identity& out) override;
  int remove(const std::string& name) override;
  int list(std::vector<std::string>& names) override;

  [[nodiscard]] Identity own_identity(std::string_view name) const;
  [[nodiscard]] Identity identity_of(std::string_view name, const ObjectFacts& facts) const;
  int look(const std::string& name, ObjectFacts& out);
  int write(const OpenObject& object, const Request& request);
  int read(const OpenObject& object, const Request& request, std::size_t& moved);
  /// Notes in words what an error of the cluster means.
  int complain(const char* what, const std::string& name, int error);

  base::Clock* clock_;
  std::string owner_;
  Pool pool_;
  std::uint64_t place_ = 0;
  std::string complaint_;
  Handle next_ = 0;
  std::unordered_map<Handle, OpenObject> objects_;
};

int Rados::complain(const char* what, const std::string& name, int error) {
  complaint_.clear();
  if (error == 0 || error == ENOENT || error == EEXIST) return error;
  const char* means = std::strerror(error);
  if (error == ECANCELED) means = kNotOwn;
  if (error == ETIMEDOUT) means = "the cluster did not answer in time";
  if (error == EFBIG) means = "larger than the cluster lets objects be (osd_max_object_size)";
  if (error == EMSGSIZE) means = "larger than the cluster lets writes be (osd_max_write_size)";
  complaint_ = fmt::format("{} of {}: {}", what, location(name), means);
  return error == ECANCELED ? EPERM : error;
}

/// The same for an object before and after it is there: nobody else knows the run's key.
Identity Rados::own_identity(std::string_view name) const {
  return {.device = place_,
          .inode = base::key_of(name),
          .mark = base::combine(base::key_of(owner_), base::key_of(name)) | 1U};
}

Identity Rados::identity_of(std::string_view name, const ObjectFacts& facts) const {
  Identity found = own_identity(name);
  found.bytes = facts.bytes;
  if (facts.owner == owner_) return found;
  found.mark = base::key_of(facts.owner) | 1U;
  found.regular = false;  // somebody else's
  return found;
}

int Rados::look(const std::string& name, ObjectFacts& out) {
  time_t changed = 0;
  const int error = -rados_stat(pool_.io(), name.c_str(), &out.bytes, &changed);
  if (error != 0) return complain("stat", name, error);
  std::array<char, 256> owner{};
  const int bytes =
      rados_getxattr(pool_.io(), name.c_str(), kOwnerAttribute, owner.data(), owner.size());
  if (bytes >= 0) out.owner.assign(owner.data(), static_cast<std::size_t>(bytes));
  return bytes == -ENODATA || bytes == -ERANGE || bytes >= 0 ? 0 : complain("stat", name, -bytes);
}

int Rados::open(Directory at, const char* name, OpenMode mode, Handle& out) {
  if (at != kRoot || mode == OpenMode::kRead) return ENOTSUP;
  OpenObject object{.name = name, .identity = own_identity(name)};
  int error = 0;
  if (mode == OpenMode::kReadWrite) {
    ObjectFacts facts;
    error = look(name, facts);
    object.identity = identity_of(name, facts);
  } else {
    WriteOperation operation;
    if (mode == OpenMode::kCreate) {
      operation.create(owner_);
    } else {
      operation.only_of(owner_);
      rados_write_op_truncate(operation.get(), 0);
    }
    error = complain("open", name, operation.operate(pool_, name));
    if (error == EPERM && mode == OpenMode::kTruncate) error = EEXIST;
  }
  if (error != 0) return error;
  out = next_++;
  objects_.emplace(out, std::move(object));
  return 0;
}

int Rados::write(const OpenObject& object, const Request& request) {
  WriteOperation operation;
  operation.only_of(owner_);
  rados_write_op_write(operation.get(), reinterpret_cast<const char*>(request.data), request.bytes,
                       request.offset);
  return complain("write", object.name, operation.operate(pool_, object.name));
}

int Rados::read(const OpenObject& object, const Request& request, std::size_t& moved) {
  const int got = rados_read(pool_.io(), object.name.c_str(), reinterpret_cast<char*>(request.data),
                             request.bytes, request.offset);
  moved = got < 0 ? 0 : static_cast<std::size_t>(got);
  return complain("read", object.name, std::max(0, -got));
}

std::size_t Rados::submit(Handle file, schema::Direction direction,
                          std::span<const Request> requests, std::span<Completion> completions) {
  const OpenObject& object = objects_.at(file);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    std::size_t moved = requests[i].bytes;
    const int error = direction == schema::Direction::kWrite ? write(object, requests[i])
                                                             : read(object, requests[i], moved);
    completions[i] = {clock_->now_ns(), error != 0 ? 0 : moved, error};
    if (error != 0 || moved != requests[i].bytes) return i + 1;
  }
  return requests.size();
}

int Rados::claim(const std::string& marker, const std::string& text, Identity& out) {
  WriteOperation operation;
  operation.create(owner_);
  rados_write_op_write_full(operation.get(), text.data(), text.size());
  const int error = complain("creation", marker, operation.operate(pool_, marker));
  if (error == EEXIST) complaint_ = "somebody has this namespace; choose another prefix";
  if (error == 0) out = own_identity(marker);
  return error;
}

int Rados::remove(const std::string& name) {
  const int error = unlink(kRoot, name.c_str());
  // Somebody else's object stays, and is not the run's any more.
  return error == EPERM && complaint_.ends_with(kNotOwn) ? 0 : error;
}

int Rados::list(std::vector<std::string>& names) {
  rados_list_ctx_t listing = nullptr;
  if (const int error = rados_nobjects_list_open(pool_.io(), &listing)) {
    return complain("listing", "", -error);
  }
  const char* name = nullptr;
  int error = 0;
  while ((error = rados_nobjects_list_next(listing, &name, nullptr, nullptr)) == 0) {
    names.emplace_back(name);
  }
  rados_nobjects_list_close(listing);
  return error == -ENOENT ? 0 : complain("listing", "", -error);
}

Account account_of(const Entry& entry, const std::vector<schema::Option>& options,
                   const std::string& root) {
  Account account{.conf = text_option(entry, options, "conf"),
                  .user = text_option(entry, options, "user"),
                  .pool = text_option(entry, options, "pool"),
                  .name_space = key_prefix(text_option(entry, options, "prefix")) +
                                root.substr(root.rfind('/') + 1),
                  .timeout_s = integer_option(entry, options, "timeout_s")};
  if (account.pool.empty()) {
    throw base::plan_error("options.pool", "rados needs the name of a pool",
                           "say it in the file's 'options', or --set interface.pool=NAME");
  }
  return account;
}

std::string library() {
  int major = 0;
  int minor = 0;
  int extra = 0;
  rados_version(&major, &minor, &extra);
  return fmt::format("librados {}.{}.{}", major, minor, extra);
}

}  // namespace

const Description& rados_description();
const Entry& rados_entry();
const Entry& rados_entry() {
  static const Entry entry{
      .options = rados_description().options,
      .capabilities = rados_description().capabilities,
      .make = [](const Environment& environment,
                 const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        return std::make_unique<Rados>(environment,
                                       account_of(rados_entry(), options, environment.root));
      },
      .library = library};
  return entry;
}

}  // namespace venturi::backend

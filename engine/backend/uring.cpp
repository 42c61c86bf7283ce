// io_uring: requests are queued in memory that the kernel shares, many for one system call.
#include <fcntl.h>
#include <fmt/format.h>
#include <liburing.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/descriptor_names.hpp"
#include "backend/table.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/version.hpp"

namespace venturi::backend {
namespace {

constexpr std::uint32_t kFirstEntries = 64;
constexpr unsigned kRegisteredFiles = 1024;
constexpr std::size_t kMostReaped = 64;
constexpr std::uint32_t kLongestRun = 8;
/// So long `reap` waits before it lets the engine look around.
constexpr std::uint64_t kPatienceNs = 100'000'000;

/// What is chosen for one ring.
struct RingSettings {
  bool registered_buffers = false;
  bool registered_files = false;
  /// Completions are polled for at the device, without interrupts.
  bool polled = false;
};

/// Owns the queues. There is no thread of the kernel (SQPOLL): it would compete with the ranks.
class Ring {
 public:
  Ring(std::uint32_t entries, bool polled) : entries_(entries) {
    // The newest kernels complete in our own system calls only, which saves interruptions.
    constexpr std::array<unsigned, 3> kFlags = {
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN,
        IORING_SETUP_COOP_TASKRUN, 0U};
    for (const unsigned flags : kFlags) {
      error_ = -io_uring_queue_init(entries, &ring_, flags | (polled ? IORING_SETUP_IOPOLL : 0U));
      if (error_ != EINVAL) return;
    }
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    if (error_ == 0) io_uring_queue_exit(&ring_);
  }
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] std::uint32_t entries() const noexcept { return entries_; }
  [[nodiscard]] io_uring* get() noexcept { return &ring_; }

 private:
  io_uring ring_{};
  std::uint32_t entries_;
  int error_ = 0;
};

class Uring final : public DescriptorNames {
 public:
  Uring(const Environment& environment, const OpenSettings& open, const RingSettings& settings)
      : DescriptorNames(environment, open), settings_(settings) {
    if (const int error = make_ring(kFirstEntries)) {
      throw base::target_error(
          environment.file->name,
          fmt::format("the kernel refuses io_uring: {}", std::strerror(error)),
          "see the setting kernel.io_uring_disabled; containers often forbid io_uring, and then "
          "interface: posix works");
    }
  }

  int close(Handle file) override {
    forget(static_cast<int>(file));
    return DescriptorNames::close(file);
  }

  int seek(Handle file, std::uint64_t offset) override { return seek_descriptor(file, offset); }

  int read_behind(Handle file, std::span<std::byte> data) override {
    return read_behind_descriptor(file, data);
  }

  int truncate(Handle file, std::uint64_t bytes) override {
    return ::ftruncate(static_cast<int>(file), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i] = one(file, direction, requests[i]);
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }

  int arrange(Handle /*file*/, std::uint32_t depth, std::span<std::byte> memory) override {
    if (depth > ring_->entries()) {
      if (const int error = make_ring(depth)) return error;
    }
    run_ = std::clamp(depth / 8, 1U, kLongestRun);
    return settings_.registered_buffers ? register_memory(memory) : 0;
  }

  /// A device that has run dry must not wait until all slots are filled again.
  int begin(Handle file, schema::Direction direction, const Request& request,
            std::uint32_t tag) override {
    const int error = queue(file, direction, request, tag);
    // What the kernel does not take now, it is offered again by the next call.
    if (error == 0 && io_uring_sq_ready(ring_->get()) >= run_) io_uring_submit(ring_->get());
    return error;
  }

  std::size_t reap(std::span<Done> done, std::uint64_t until_ns) override {
    std::array<io_uring_cqe*, kMostReaped> ended;
    const std::uint64_t begin = clock().now_ns();
    const std::uint64_t left_ns = until_ns > begin ? until_ns - begin : 0;
    __kernel_timespec patience{.tv_sec = 0,
                               .tv_nsec = static_cast<long long>(std::min(left_ns, kPatienceNs))};
    const int error =
        -io_uring_submit_and_wait_timeout(ring_->get(), ended.data(), 1, &patience, nullptr);
    const auto most = static_cast<unsigned>(std::min(done.size(), kMostReaped));
    const unsigned count = io_uring_peek_batch_cqe(ring_->get(), ended.data(), most);
    if (count == 0 && error > 0) be_patient(error);
    const std::uint64_t now = clock().now_ns();
    for (unsigned i = 0; i < count; ++i) {
      done[i] = {static_cast<std::uint32_t>(ended[i]->user_data), completion(ended[i]->res, now)};
    }
    io_uring_cq_advance(ring_->get(), count);
    return count;
  }

  [[nodiscard]] const char* hint(int error) const noexcept override {
    if (settings_.polled && (error == EOPNOTSUPP || error == EINVAL)) {
      return "with poll=true the device must have polled queues (nvme.poll_queues) and sizes and "
             "offsets must be multiples of its block";
    }
    if (settings_.registered_buffers && (error == ENOMEM || error == EFAULT || error == E2BIG)) {
      return "registered buffers are locked memory, at most 1 GiB: see `ulimit -l`, or use fewer "
             "or smaller requests in flight";
    }
    if (error == ENOBUFS) {
      return "a step that both writes and reads has memory that is not registered; leave out "
             "registered_buffers";
    }
    return DescriptorNames::hint(error);
  }

 protected:
  int opened(int descriptor, OpenMode mode) override {
    if (mode == OpenMode::kRead) {
      // For a descriptor that does not block io_uring would answer EAGAIN.
      const int flags = ::fcntl(descriptor, F_GETFL);
      if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) != 0) return errno;
    }
    if (!settings_.registered_files) return 0;
    if (descriptor >= static_cast<int>(kRegisteredFiles)) return EMFILE;
    const int error = register_file(descriptor, descriptor);
    if (error == 0) files_[static_cast<std::size_t>(descriptor)] = descriptor;
    return error;
  }

 private:
  /// Puts a request beside those that the next system call hands to the kernel.
  int queue(Handle file, schema::Direction direction, const Request& request, std::uint32_t tag) {
    const int descriptor = static_cast<int>(file);
    const auto bytes = static_cast<unsigned>(std::min(request.bytes, kMostBytes));
    const bool writes = direction == schema::Direction::kWrite;
    const bool registered = is_registered(request);
    if (!registered && !memory_.empty()) return ENOBUFS;
    io_uring_sqe* entry = io_uring_get_sqe(ring_->get());
    if (entry == nullptr) return EAGAIN;
    if (registered) {
      writes ? io_uring_prep_write_fixed(entry, descriptor, request.data, bytes, request.offset, 0)
             : io_uring_prep_read_fixed(entry, descriptor, request.data, bytes, request.offset, 0);
    } else {
      writes ? io_uring_prep_write(entry, descriptor, request.data, bytes, request.offset)
             : io_uring_prep_read(entry, descriptor, request.data, bytes, request.offset);
    }
    if (settings_.registered_files) entry->flags |= IOSQE_FIXED_FILE;
    entry->user_data = tag;
    return 0;
  }

  static Completion completion(int result, std::uint64_t now_ns) noexcept {
    return {now_ns, result < 0 ? 0 : static_cast<std::uint64_t>(result), result < 0 ? -result : 0};
  }

  int make_ring(std::uint32_t entries) {
    ring_.reset();
    ring_ = std::make_unique<Ring>(entries, settings_.polled);
    memory_ = {};
    if (ring_->error() != 0 || !settings_.registered_files) return ring_->error();
    files_.resize(kRegisteredFiles, -1);
    return -io_uring_register_files(ring_->get(), files_.data(), kRegisteredFiles);
  }

  int register_file(int slot, int descriptor) {
    const int result =
        io_uring_register_files_update(ring_->get(), static_cast<unsigned>(slot), &descriptor, 1);
    return result < 0 ? -result : 0;
  }

  void forget(int descriptor) {
    if (!settings_.registered_files) return;
    files_[static_cast<std::size_t>(descriptor)] = -1;
    register_file(descriptor, -1);
  }

  /// Always anew: memory that was freed and allocated again has other pages at the same address.
  int register_memory(std::span<std::byte> memory) {
    if (!memory_.empty()) io_uring_unregister_buffers(ring_->get());
    memory_ = {};
    constexpr std::size_t kMostRegistered = std::size_t{1} << 30U;
    if (memory.empty()) return 0;
    if (memory.size() > kMostRegistered) return E2BIG;
    const iovec all{memory.data(), memory.size()};
    const int error = -io_uring_register_buffers(ring_->get(), &all, 1);
    if (error == 0) memory_ = memory;
    return error;
  }

  [[nodiscard]] bool is_registered(const Request& request) const noexcept {
    return !memory_.empty() && request.data >= memory_.data() &&
           request.data + request.bytes <= memory_.data() + memory_.size();
  }

  /// One request that nothing else is in flight with.
  Completion one(Handle file, schema::Direction direction, const Request& request) {
    if (const int error = queue(file, direction, request, 0)) return {clock().now_ns(), 0, error};
    io_uring_cqe* ended = nullptr;
    int error = 0;
    do {
      error = -io_uring_submit_and_wait(ring_->get(), 1);
      if (error <= 0) error = -io_uring_peek_cqe(ring_->get(), &ended);
    } while (error == EINTR || error == EAGAIN);
    if (error > 0) return {clock().now_ns(), 0, error};
    const Completion result = completion(ended->res, clock().now_ns());
    io_uring_cqe_seen(ring_->get(), ended);
    return result;
  }

  /// Passes over what only takes time; anything else means that the ring is broken.
  void be_patient(int error) const {
    if (error == ETIME || error == EINTR || error == EAGAIN || error == EBUSY) return;
    throw base::Error({.code = "io",
                       .message = fmt::format("io_uring failed: {}", std::strerror(error)),
                       .hint = hint(error)});
  }

  RingSettings settings_;
  std::unique_ptr<Ring> ring_;
  /// The registered descriptors, each at its own number.
  std::vector<int> files_;
  std::span<std::byte> memory_;
  /// So many requests are handed to the kernel at a time.
  std::uint32_t run_ = kLongestRun;
};

}  // namespace

const Description& uring_description();
const Entry& uring_entry();

namespace {

/// The file in which the kernel says whether the device under a directory has polled queues, if it
/// says 0; empty if it says another thing or nothing. Some file systems would pass over the wish.
std::string polls_nothing(const std::string& directory) {
  struct stat found{};
  if (::stat(directory.c_str(), &found) != 0) return "";
  const std::string device =
      fmt::format("/sys/dev/block/{}:{}/", major(found.st_dev), minor(found.st_dev));
  for (const char* queue : {"queue/io_poll", "../queue/io_poll"}) {  // a partition has none
    std::string name = device + queue;
    const base::Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    char answer = '\0';
    if (file && ::read(file.get(), &answer, 1) == 1) return answer == '0' ? name : "";
  }
  return "";
}

/// Tries a polled read of an empty file without a name. An errno; 0 if it works, or if nothing can
/// be said here: whatever is wrong then shows when the run makes its own files.
int try_polling(const std::string& directory) {
  const base::Descriptor file(
      ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
  if (!file) return 0;
  Ring ring(1, true);
  if (ring.error() != 0) return 0;
  alignas(4096) std::array<std::byte, 4096> memory;
  io_uring_prep_read(io_uring_get_sqe(ring.get()), file.get(), memory.data(), memory.size(), 0);
  io_uring_cqe* ended = nullptr;
  if (io_uring_submit_and_wait(ring.get(), 1) < 0 || io_uring_peek_cqe(ring.get(), &ended) != 0) {
    return 0;
  }
  return ended->res < 0 ? -ended->res : 0;
}

/// Throws base::Error (exit 5) where completions cannot be polled for.
void check_polling(const Environment& environment) {
  constexpr const char* kHint =
      "leave out poll, or give the device such queues (for NVMe the module option poll_queues)";
  const std::string says = polls_nothing(environment.root);
  if (!says.empty()) {
    throw base::target_error(
        environment.file->name,
        fmt::format("poll=true, but the device under the run's directory has no polled queues ({} "
                    "is 0)",
                    says),
        kHint);
  }
  if (const int error = try_polling(environment.root)) {
    throw base::target_error(
        environment.file->name,
        fmt::format("poll=true, but nothing under the run's directory can be polled for: {}",
                    std::strerror(error)),
        "leave out poll; it needs a file system on a device with polled queues");
  }
}

std::unique_ptr<Backend> make_uring(const Environment& environment,
                                    const std::vector<schema::Option>& options) {
  const Entry& entry = uring_entry();
  const RingSettings settings{
      .registered_buffers = boolean_option(entry, options, "registered_buffers"),
      .registered_files = boolean_option(entry, options, "registered_files"),
      .polled = boolean_option(entry, options, "poll")};
  if (settings.polled && !boolean_option(entry, options, "direct")) {
    throw base::plan_error(environment.file->name, "poll=true polls the device, past the cache",
                           "add direct=true");
  }
  if (settings.polled) check_polling(environment);
  if (settings.registered_buffers && environment.file->tree) {
    throw base::plan_error(environment.file->name, "items of a tree have no registered buffers",
                           "leave out registered_buffers");
  }
  return std::make_unique<Uring>(environment, open_settings(entry, options), settings);
}

}  // namespace

const Entry& uring_entry() {
  static const Entry entry{uring_description().options,
                           uring_description().capabilities,
                           make_uring,
                           false,
                           nullptr,
                           nullptr,
                           [] { return std::string(base::kUringVersion); }};
  return entry;
}

}  // namespace venturi::backend

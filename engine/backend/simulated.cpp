// An in-memory store with a latency and a bandwidth, on the rank's own simulated clock.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <unordered_map>

#include "backend/table.hpp"
#include "base/error.hpp"

namespace venturi::backend {
namespace {

/// A rank's store knows what this rank wrote. Names that it does not know are taken for another
/// rank's: they can be opened and read, and read as zeros.
class Simulated : public Backend {
 public:
  struct Speed {
    double latency_s;
    double bandwidth_bytes_per_s;
  };

  Simulated(const Environment& environment, Speed speed)
      : clock_(environment.clock), keep_contents_(environment.keep_contents), speed_(speed) {}

  [[nodiscard]] Traits traits() const noexcept override { return {}; }

  int open_directory(const char* path, Directory& out) override {
    out = next_directory_++;
    directories_.emplace(out, path);
    return 0;
  }
  void close_directory(Directory directory) noexcept override { directories_.erase(directory); }

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    std::string path = path_of(at, name);
    const auto found = names_.find(path);
    // Costs nothing, because the engine then opens the file again to truncate it: creating a file
    // takes the same time in every repetition.
    if (mode == OpenMode::kCreate && found != names_.end()) return EEXIST;
    pass(0);
    if (found != names_.end()) {
      out = found->second;
    } else if (!free_.empty()) {
      out = free_.back();
      free_.pop_back();
      names_.emplace(std::move(path), out);
    } else {
      out = static_cast<Handle>(files_.size());
      files_.emplace_back();
      names_.emplace(std::move(path), out);
    }
    if (mode == OpenMode::kTruncate) {
      const std::uint64_t links = file(out).links;
      file(out) = {};
      file(out).links = links;
    }
    return 0;
  }
  int close(Handle) override {
    pass(0);
    return 0;
  }
  int sync(Handle, schema::SyncMode) override {
    pass(0);
    return 0;
  }
  int identify(Handle, Identity&) override { return ENOTSUP; }
  int stat(Directory, const char*) override {
    pass(0);
    return 0;
  }
  int set_status(Directory, const char*, StatusPart) override {
    pass(0);
    return 0;
  }
  int unlink(Directory at, const char* name) override {
    pass(0);
    const auto found = names_.find(path_of(at, name));
    if (found == names_.end()) return 0;
    const Handle handle = found->second;
    names_.erase(found);
    if (--file(handle).links == 0) {
      file(handle) = {};
      free_.push_back(handle);
    }
    return 0;
  }
  int rename(Directory at, const char* from, const char* to) override {
    pass(0);
    std::string taken = path_of(at, to);
    if (names_.contains(taken)) return EEXIST;
    const auto found = names_.find(path_of(at, from));
    if (found == names_.end()) return 0;
    const Handle handle = found->second;
    names_.erase(found);
    names_.emplace(std::move(taken), handle);
    return 0;
  }
  int replace(Directory at, const char* from, const char* to) override {
    unlink(at, to);
    return rename(at, from, to);
  }
  int truncate(Handle handle, std::uint64_t bytes) override {
    pass(0);
    file(handle).resize(bytes);
    return 0;
  }
  int seek(Handle, std::uint64_t) override {
    pass(0);
    return 0;
  }
  int read_behind(Handle, std::span<std::byte>) override {
    pass(0);
    return 0;
  }
  int link(Directory at, const char* name, const char* other) override {
    pass(0);
    std::string second = path_of(at, other);
    if (names_.contains(second)) return EEXIST;
    const auto found = names_.find(path_of(at, name));
    if (found == names_.end()) return 0;
    ++file(found->second).links;
    names_.emplace(std::move(second), found->second);
    return 0;
  }
  int symlink(Directory, const char*, const char*) override {
    pass(0);
    return 0;
  }
  int make_node(Directory, const char*) override {
    pass(0);
    return 0;
  }
  int read_directory(Directory, const char*, std::uint64_t&) override {
    pass(0);
    return 0;
  }
  int set_attribute(Handle, const char*, std::span<const std::byte>) override {
    pass(0);
    return 0;
  }
  int get_attribute(Handle, const char*, std::span<std::byte>) override {
    pass(0);
    return 0;
  }
  int make_directory(Directory, const char*) override {
    pass(0);
    return 0;
  }
  int remove_directory(Directory, const char*) override {
    pass(0);
    return 0;
  }

  std::size_t submit(Handle handle, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      move(file(handle), direction, requests[i]);
      pass(requests[i].bytes);
      completions[i] = {clock_->now_ns(), requests[i].bytes, 0};
    }
    return requests.size();
  }

  int arrange(Handle, std::uint32_t, std::span<std::byte>) override {
    free_ns_ = clock_->now_ns();
    return 0;
  }
  /// Latencies of requests in flight overlap; their bytes follow each other.
  int begin(Handle handle, schema::Direction direction, const Request& request,
            std::uint32_t tag) override {
    move(file(handle), direction, request);
    const std::uint64_t ready_ns = clock_->now_ns() + ns_of(0);
    free_ns_ = std::max(free_ns_, ready_ns) + (ns_of(request.bytes) - ns_of(0));
    begun_.push_back({tag, {free_ns_, request.bytes, 0}});
    return 0;
  }
  /// In the order in which they were begun; time passes to the end of the first.
  std::size_t reap(std::span<Done> done, std::uint64_t until_ns) override {
    if (!begun_.empty()) clock_->advance_to(std::min(begun_.front().completion.end_ns, until_ns));
    std::size_t count = 0;
    while (count < done.size() && !begun_.empty() &&
           begun_.front().completion.end_ns <= clock_->now_ns()) {
      done[count++] = begun_.front();
      begun_.pop_front();
    }
    return count;
  }
  [[nodiscard]] bool knows(Handle handle, const Request& request) const noexcept override {
    const auto& written = files_[static_cast<std::size_t>(handle)].written;
    const auto after = written.upper_bound(request.offset);
    return after != written.begin() && std::prev(after)->second >= request.offset + request.bytes;
  }

 private:
  struct Content {
    std::uint64_t links = 1;
    std::uint64_t bytes = 0;
    std::vector<std::byte> data;
    /// What this rank wrote: end by beginning, joined where they touch.
    std::map<std::uint64_t, std::uint64_t> written;

    void resize(std::uint64_t size) {
      bytes = size;
      if (data.size() > size) data.resize(size);
      written.erase(written.lower_bound(size), written.end());
      if (!written.empty()) written.rbegin()->second = std::min(written.rbegin()->second, size);
    }

    void note(std::uint64_t begin, std::uint64_t end) {
      auto next = written.upper_bound(begin);
      if (next != written.begin() && std::prev(next)->second >= begin) {
        --next;
        begin = next->first;
        end = std::max(end, next->second);
        next = written.erase(next);
      }
      while (next != written.end() && next->first <= end) {
        end = std::max(end, next->second);
        next = written.erase(next);
      }
      written.emplace(begin, end);
    }
  };

  Content& file(Handle handle) { return files_[static_cast<std::size_t>(handle)]; }

  [[nodiscard]] std::string path_of(Directory at, const char* name) const {
    return at == kRoot ? name : directories_.at(at) + "/" + name;
  }

  /// What an operation that moves so many bytes takes.
  [[nodiscard]] std::uint64_t ns_of(std::uint64_t bytes) const noexcept {
    const double ns =
        (speed_.latency_s + static_cast<double>(bytes) / speed_.bandwidth_bytes_per_s) *
        base::kNsPerS;
    return static_cast<std::uint64_t>(std::llround(ns));
  }

  void pass(std::uint64_t bytes) noexcept { clock_->advance(ns_of(bytes)); }

  void move(Content& content, schema::Direction direction, const Request& request) const {
    const std::uint64_t end = request.offset + request.bytes;
    if (direction == schema::Direction::kWrite) {
      content.bytes = std::max(content.bytes, end);
      if (!keep_contents_) return;
      if (content.data.size() < end) content.data.resize(end);
      content.note(request.offset, end);
      std::memcpy(content.data.data() + request.offset, request.data, request.bytes);
    } else if (keep_contents_) {
      std::memset(request.data, 0, request.bytes);
      if (request.offset >= content.data.size()) return;
      std::memcpy(request.data, content.data.data() + request.offset,
                  std::min<std::size_t>(request.bytes, content.data.size() - request.offset));
    }
  }

  base::Clock* clock_;
  bool keep_contents_;
  Speed speed_;
  std::unordered_map<Directory, std::string> directories_;
  Directory next_directory_ = 0;
  std::unordered_map<std::string, Handle> names_;
  std::vector<Content> files_;
  std::vector<Handle> free_;
  /// Requests in flight, and when the last of them will have moved its bytes.
  std::deque<Done> begun_;
  std::uint64_t free_ns_ = 0;
};

}  // namespace

const Description& simulated_description();
const Description& simulated_description() {
  static const Description description{
      .level = kNoStorage,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kSync, kBytes, kDepth, kTruncate, kCopy,
                       kSeek, kSimulatedClock},
      .options = {{"latency_s", "real", "0.0001", "seconds that every operation of a rank takes",
                   "a number of at least 0"},
                  {"bandwidth_bytes_per_s", "real", "1e9", "bytes that a rank moves in a second",
                   "a number greater than 0"}},
      .label = "simulated",
  };
  return description;
}

const Entry& simulated_entry();
const Entry& simulated_entry() {
  static const Entry entry{
      simulated_description().options, simulated_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        const Simulated::Speed speed{
            real_option(simulated_entry(), options, "latency_s"),
            real_option(simulated_entry(), options, "bandwidth_bytes_per_s")};
        if (speed.bandwidth_bytes_per_s <= 0.0) {
          throw base::plan_error("files.options", "bandwidth_bytes_per_s must be greater than 0");
        }
        return std::make_unique<Simulated>(environment, speed);
      }};
  return entry;
}

}  // namespace venturi::backend

// Storage that does nothing: what is left is the cost of the engine.
#include <cerrno>

#include "backend/table.hpp"

namespace venturi::backend {
namespace {

class Null : public Backend {
 public:
  explicit Null(base::Clock* clock) : clock_(clock) {}
  [[nodiscard]] Traits traits() const noexcept override { return {}; }
  int open_directory(const char*, Directory& out) override {
    out = 0;
    return 0;
  }
  void close_directory(Directory) noexcept override {}
  int open(Directory, const char*, OpenMode, Handle& out) override {
    out = 0;
    return 0;
  }
  int close(Handle) override { return 0; }
  int sync(Handle, schema::SyncMode) override { return 0; }
  int identify(Handle, Identity&) override { return ENOTSUP; }
  int stat(Directory, const char*, Identity&) override { return 0; }
  int unlink(Directory, const char*) override { return 0; }
  int make_directory(Directory, const char*) override { return 0; }
  int remove_directory(Directory, const char*) override { return 0; }
  std::size_t submit(Handle, schema::Direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i] = {clock_->now_ns(), requests[i].bytes, 0};
    }
    return requests.size();
  }
  [[nodiscard]] bool knows(Handle, const Request&) const noexcept override { return false; }

 private:
  base::Clock* clock_;
};

}  // namespace

const Entry& null_entry();
const Entry& null_entry() {
  static const Entry entry{{},
                           {"shared files", "random access", "names", "sync"},
                           [](const Environment& environment,
                              const std::vector<schema::Option>&) -> std::unique_ptr<Backend> {
                             return std::make_unique<Null>(environment.clock);
                           }};
  return entry;
}

}  // namespace venturi::backend

// Copies: by the kernel where it can, else through memory.
#include "execute/copy.hpp"

#include <cerrno>

namespace venturi::execute {
namespace {

using backend::Backend;
using schema::Direction;
using schema::OperationKind;

// As cp reads and writes.
constexpr std::size_t kPartBytes = std::size_t{256} << 10U;

class ThroughMemory {
 public:
  ThroughMemory(Context& context, const CopyEnds& ends, std::uint64_t begin_ns)
      : context_(context),
        ends_(ends),
        data_(context.read_buffer.reserve(kPartBytes)),
        outcome_{.end_ns = begin_ns} {}

  CopyOutcome run() {
    while (true) {
      const std::uint64_t got = move(Direction::kRead, outcome_.bytes, data_, kPartBytes);
      if (got == 0 || outcome_.error != 0) return outcome_;
      std::uint64_t put = 0;
      while (put < got) {
        const std::uint64_t more =
            move(Direction::kWrite, outcome_.bytes + put, data_ + put, got - put);
        if (more == 0 && outcome_.error == 0) outcome_.error = EIO;
        if (outcome_.error != 0) return outcome_;
        put += more;
      }
      outcome_.bytes += got;
    }
  }

 private:
  /// One request; how much it moved.
  std::uint64_t move(Direction direction, std::uint64_t offset, std::byte* data,
                     std::uint64_t bytes) {
    const bool reads = direction == Direction::kRead;
    Backend& storage = reads ? ends_.from_storage : ends_.to_storage;
    const backend::Request request{offset, bytes, data};
    backend::Completion done;
    storage.submit(reads ? ends_.from : ends_.to, direction, {&request, 1}, {&done, 1});
    outcome_.kind = reads ? OperationKind::kRead : OperationKind::kWrite;
    outcome_.error = done.error;
    if (done.error != 0 || done.bytes == 0) return 0;
    context_.meter().record(outcome_.kind, outcome_.end_ns, done.end_ns, done.bytes);
    context_.meter().count_size(outcome_.kind, done.bytes, 1);
    outcome_.end_ns = done.end_ns;
    ++outcome_.operations;
    return done.bytes;
  }

  Context& context_;
  const CopyEnds& ends_;
  std::byte* data_;
  CopyOutcome outcome_;
};

}  // namespace

CopyOutcome copy_content(Context& context, const CopyEnds& ends, std::uint64_t begin_ns) {
  backend::Copied copied;
  const int error = ends.to_storage.copy(ends.from, ends.to, ends.way, copied);
  if (error == ENOTSUP) return ThroughMemory(context, ends, begin_ns).run();
  CopyOutcome outcome{.kind = copied.shares_blocks ? OperationKind::kClone : OperationKind::kCopy,
                      .error = error,
                      .bytes = copied.bytes,
                      .end_ns = begin_ns};
  if (error != 0) return outcome;
  outcome.end_ns = context.clock.now_ns();
  outcome.operations = 1;
  context.meter().record(outcome.kind, begin_ns, outcome.end_ns, copied.bytes);
  return outcome;
}

}  // namespace venturi::execute

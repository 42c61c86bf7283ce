// Files of earlier runs say themselves by which key their words were stamped.
#include <array>

#include "execute/step.hpp"
#include "payload/stamp.hpp"

namespace venturi::execute {
namespace {

/// What of a file is looked at: with O_DIRECT it must be whole blocks.
constexpr std::uint64_t kBeginningBytes = 4096;

}  // namespace

bool find_stamps(Context& context, const FileState& file, OpenFile& open) {
  if (!file.plan->foreign || !file.plan->content.verify) return true;
  std::byte* beginning = context.read_buffer.reserve(kBeginningBytes);
  const backend::Request request{0, kBeginningBytes, beginning};
  std::array<backend::Completion, 1> done{};
  file.plain->submit(open.handle, schema::Direction::kRead, {&request, 1}, done);
  if (done[0].error == 0) open.stamp_key = payload::Stamp::key_in({beginning, done[0].bytes});
  if (open.stamp_key) return true;
  constexpr const char* kNone = "its first 4 KiB bear no stamps, so there is nothing to check by";
  const char* what = done[0].error == 0 ? kNone : "";
  context.fail_operation({.kind = schema::OperationKind::kOpen,
                          .path = open.path,
                          .error = done[0].error,
                          .what = what},
                         "write it with verification, or read it without");
  return false;
}

}  // namespace venturi::execute

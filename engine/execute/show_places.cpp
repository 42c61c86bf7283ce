// Files that show each of their sharers its own places (MPI's file views).
#include <array>
#include <optional>
#include <variant>

#include "execute/moving.hpp"

namespace venturi::execute {
namespace {

/// What all sharers tell each other; of each word they learn the largest.
struct Agreement {
  std::uint64_t failed = 0;
  /// The file shows this rank other places than the next ones.
  std::uint64_t differs = 0;

  void reduce(comm::Group& sharers) {
    std::array<std::uint64_t, 2> words{failed, differs};
    sharers.reduce(words, comm::Reduction::kMaximum);
    failed = words[0];
    differs = words[1];
  }
};

/// Where the bytes of regular access lie: its requests, or the runs of bytes of its boxes.
std::optional<pattern::NestCursor> places_of(const Moving& moving, const pattern::Cursor& cursor) {
  if (const auto* nest = std::get_if<pattern::NestCursor>(&cursor)) return *nest;
  const auto* boxes = std::get_if<pattern::BoxCursor>(&cursor);
  if (boxes == nullptr) return std::nullopt;
  return boxes->places(*moving.layout());
}

}  // namespace

bool show_places(Moving& moving, const pattern::Cursor& cursor) {
  const std::optional<pattern::NestCursor> nest = places_of(moving, cursor);
  if (!nest || !nest->ascends()) {
    throw base::plan_error(moving.file.plan->name,
                           "a file view shows places that ascend and do not overlap, and those of "
                           "this step do not");
  }
  backend::Backend& storage = *moving.file.storage;
  Agreement agreement{
      .failed = static_cast<std::uint64_t>(moving.context.failed()),
      .differs = static_cast<std::uint64_t>(!storage.shows(moving.open.handle, *nest))};
  agreement.reduce(*moving.file.sharers);
  if (agreement.failed != 0) return false;
  if (agreement.differs == 0) return true;
  const int error = storage.show(moving.open.handle, *nest);
  if (error != 0) moving.stop(error);
  return error == 0;
}

void fail_showing(comm::Group& sharers) { Agreement{.failed = 1}.reduce(sharers); }

}  // namespace venturi::execute

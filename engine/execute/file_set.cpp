// Making the storage of each file entry.
#include "execute/file_set.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace venturi::execute {

OpenFile* FileState::find(const std::string& path) noexcept {
  const auto found = std::find_if(open.begin(), open.end(),
                                  [&](const OpenFile& each) { return each.path == path; });
  return found == open.end() ? nullptr : &*found;
}

namespace {

/// A number that those have in common who share a file.
std::uint64_t color_of(const schema::File& file, const comm::Group& group) {
  if (file.tree) return group.rank();  // each rank opens items of its own
  switch (file.sharing) {
    case schema::Sharing::kAll:
      return 0;
    case schema::Sharing::kRank:
      return group.rank();
    case schema::Sharing::kNode:
      return group.node();
    case schema::Sharing::kEvery:
      break;
  }
  return group.rank() / static_cast<std::uint64_t>(file.every);
}

}  // namespace

std::vector<FileState> split_sharers(const schema::Plan& plan, comm::Group& group) {
  std::vector<FileState> files;
  // Entries that are shared in the same way share the groups, too.
  std::map<std::tuple<schema::Sharing, std::int64_t, bool>, std::shared_ptr<comm::Group>> made;
  for (const schema::File& file : plan.files) {
    FileState state;
    state.plan = &file;
    if (file.foreign) state.residency = Residency::kForeign;
    if (backend::row_of(file.interface).entry->needs_sharers) {
      auto& sharers = made[{file.sharing, file.every, file.tree.has_value()}];
      if (!sharers) {
        sharers = std::make_shared<comm::Group>(group.split(color_of(file, group)));
      }
      state.sharers = sharers;
    }
    files.push_back(std::move(state));
  }
  return files;
}

void make_storage(std::vector<FileState>& files, const backend::Environment& environment) {
  for (FileState& state : files) {
    const schema::File& file = *state.plan;
    backend::Environment own = environment;
    own.keep_contents = file.content.verify;
    own.file = &file;
    own.sharers = state.sharers.get();
    state.storage = backend::row_of(file.interface).entry->make(own, file.options);
    state.plain = state.storage.get();
    if (!file.faults.empty()) {
      state.storage = backend::make_faulty(std::move(state.storage), own, file.faults);
    }
  }
}

}  // namespace venturi::execute

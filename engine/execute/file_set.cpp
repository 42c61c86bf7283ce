// Making the storage of each file entry.
#include "execute/file_set.hpp"

#include <algorithm>
#include <utility>

namespace venturi::execute {

OpenFile* FileState::find(const std::string& path) noexcept {
  const auto found = std::find_if(open.begin(), open.end(),
                                  [&](const OpenFile& each) { return each.path == path; });
  return found == open.end() ? nullptr : &*found;
}

std::vector<FileState> make_file_states(const schema::Plan& plan,
                                        const backend::Environment& environment) {
  std::vector<FileState> files;
  for (const schema::File& file : plan.files) {
    FileState state;
    state.plan = &file;
    backend::Environment own = environment;
    own.keep_contents = file.content.verify;
    state.storage = backend::row_of(file.interface).entry->make(own, file.options);
    state.plain = state.storage.get();
    if (!file.faults.empty()) {
      state.storage = backend::make_faulty(std::move(state.storage), own, file.faults);
    }
    if (file.foreign) state.residency = Residency::kForeign;
    files.push_back(std::move(state));
  }
  return files;
}

}  // namespace venturi::execute

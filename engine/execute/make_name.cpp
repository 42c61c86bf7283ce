// Making names so that nothing of others is touched and nothing of ours is forgotten.
#include "execute/make_name.hpp"

#include <fcntl.h>

#include <cerrno>

#include "base/random.hpp"

namespace venturi::execute {

using backend::Backend;
using backend::OpenMode;

bool is_our_file(RunFiles& run_files, const std::string& path, const backend::Identity& found) {
  return found.regular && found.links == 1 && !run_files.manifest->denies(path, found);
}

int NameMaker::create(const std::string& path, backend::Handle& handle) {
  const bool real = storage_.traits().real_files;
  if (real) context_.manifest->intend(path);
  int error = storage_.open(Backend::kRoot, path.c_str(), OpenMode::kCreate, handle);
  if (error == ENOENT) {
    error = make_parents(path);
    if (error == 0) error = storage_.open(Backend::kRoot, path.c_str(), OpenMode::kCreate, handle);
  }
  // What follows making a file, such as giving it its size, may fail: then the file is there, and
  // the intention stands for it.
  backend::Identity made;
  const bool is_there = error != 0 && error != EEXIST && real &&
                        storage_.look_up(Backend::kRoot, path.c_str(), made) == 0;
  if (real && error != 0 && !is_there) context_.manifest->retract(path);
  return error == EEXIST ? take_over(path, handle) : error;
}

int NameMaker::rename(const std::string& path, const std::string& name, bool replaces) {
  const auto call = [&] {
    return replaces ? storage_.replace(Backend::kRoot, path.c_str(), name.c_str())
                    : storage_.rename(Backend::kRoot, path.c_str(), name.c_str());
  };
  const bool real = storage_.traits().real_files;
  if (real) context_.manifest->intend(name);
  int error = call();
  if (error == ENOENT && make_parents(name) == 0) error = call();
  if (real && error != 0) context_.manifest->retract(name);
  return error;
}

int NameMaker::take_over(const std::string& path, backend::Handle& handle) {
  if (storage_.traits().real_files) {
    backend::Identity identity;
    if (storage_.look_up(Backend::kRoot, path.c_str(), identity) != 0 ||
        !context_.manifest->owns(identity)) {
      return EEXIST;
    }
  }
  taken_over_ = true;
  return storage_.open(Backend::kRoot, path.c_str(), OpenMode::kTruncate, handle);
}

int NameMaker::make_directory(const std::string& path) {
  int error = make_one(path);
  if (error == ENOENT && (error = make_parents(path)) == 0) error = make_one(path);
  return error;
}

int NameMaker::make_one(const std::string& path) {
  const bool real = storage_.traits().real_files;
  if (real) context_.manifest->intend(path);
  const int error = storage_.make_directory(Backend::kRoot, path.c_str());
  if (real && error != 0) context_.manifest->retract(path);
  return error;
}

int NameMaker::make_parents(const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    const int error = make_one(parent);
    if (error == 0) list_name(parent, EntryKind::kDirectory);
    if (error != 0 && error != EEXIST) return error;
  }
  return 0;
}

void NameMaker::list_file(const std::string& path, backend::Handle handle, EntryKind kind) {
  backend::Identity identity;
  if (taken_over_) return;  // it was ours before and is listed already
  const bool has_handle = !storage_.traits().opens_together;
  const int error = has_handle ? storage_.identify(handle, identity)
                               : storage_.look_up(Backend::kRoot, path.c_str(), identity);
  if (error != 0) return;
  list(kind, identity, path);
}

void NameMaker::list(EntryKind kind, backend::Identity& identity, const std::string& path) {
  if (identity.birth_ns == 0 && !identity.is_key()) {
    const base::Descriptor root(
        ::open(context_.plan.directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const base::Place place(root.get(), path.c_str());
    const std::uint64_t mark = base::combine(context_.next_mark(), coarse_time_ns());
    if (place.error() == 0) base::set_mark(place.directory(), place.name(), mark, identity);
  }
  context_.manifest->add({.kind = kind, .identity = identity, .path = path});
}

void NameMaker::list_name(const std::string& path, EntryKind kind) {
  backend::Identity identity;
  if (!storage_.traits().real_files) return;
  if (file_.plain->look_up(Backend::kRoot, path.c_str(), identity) != 0) return;
  list(kind, identity, path);
}

}  // namespace venturi::execute

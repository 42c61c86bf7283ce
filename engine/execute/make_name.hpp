// Making names: parents that are missing, names that are taken, and the entry in the manifest.
#pragma once

#include <string>

#include "execute/context.hpp"

namespace venturi::execute {

/// Whether what has this name may be written or removed: a file that has no other name, and, as
/// far as this rank listed the name, one that this run made.
[[nodiscard]] bool is_our_file(RunFiles& run_files, const std::string& path,
                               const backend::Identity& found);

/// What is said where it may not.
inline constexpr const char* kNotOurs =
    "the name is there and this run did not make it; it is left alone";

/// Makes files and directories of one file entry. What it returns is an errno, 0 for success.
class NameMaker {
 public:
  NameMaker(Context& context, FileState& file, backend::Backend& storage) noexcept
      : context_(context), file_(file), storage_(storage) {}

  /// Creates and opens a file; makes its parents if they are missing. A name that is taken is
  /// truncated if this run made it, else it is EEXIST and stays as it is.
  int create(const std::string& path, backend::Handle& handle);
  /// Makes a directory, and its parents if they are missing.
  int make_directory(const std::string& path);

  /// Lists a new file; after its latency was measured.
  void list_file(const std::string& path, backend::Handle handle, EntryKind kind);
  /// Gives a file another name; makes the parents of that if they are missing.
  int rename(const std::string& path, const std::string& name, bool replaces);
  /// Lists a new directory, or a file under a new name.
  void list_name(const std::string& path, EntryKind kind);

 private:
  int make_one(const std::string& path);
  int make_parents(const std::string& path);
  void list(EntryKind kind, backend::Identity& identity, const std::string& path);
  int take_over(const std::string& path, backend::Handle& handle);

  Context& context_;
  FileState& file_;
  backend::Backend& storage_;
  bool taken_over_ = false;
};

}  // namespace venturi::execute

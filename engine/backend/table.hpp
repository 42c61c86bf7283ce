// The storage interfaces of this build: CMake writes the rows, each backend its own entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "schema/plan.hpp"

namespace venturi::backend {

/// One setting of a backend, declared beside it and nowhere else.
struct OptionInfo {
  const char* name;
  /// `boolean`, `real`, `integer`, `bytes` (a whole number of them, with a unit or without), `word`
  /// (one of a closed set) or `text` (which the backend reads when it is made).
  const char* type;
  const char* default_value;
  const char* about;
  /// Allowed values in words; of a `word`, all of them, separated by `|`.
  const char* range;
  /// Bounds of a number.
  double least = 0.0;
  double most = std::numeric_limits<double>::max();
};

/// Words in which a backend says what it can do; what a plan asks for beyond them is refused.
inline constexpr const char* kSharedFiles = "shared files";
inline constexpr const char* kRandomAccess = "random access";
inline constexpr const char* kNames = "names";
inline constexpr const char* kSync = "sync";
/// Several requests in flight: `begin` and `reap`.
inline constexpr const char* kDepth = "requests in flight";
/// Calls that all sharers make together: `submit_together`.
inline constexpr const char* kCollective = "collective calls";
/// Hints of MPI-IO.
inline constexpr const char* kHints = "hints";
/// Files that are made with stripes, where the file system has them.
inline constexpr const char* kStripes = "stripes";
/// Boxes of n-dimensional datasets instead of bytes at an offset.
inline constexpr const char* kDatasets = "datasets";
/// The end of a file is where the next write goes.
inline constexpr const char* kAppend = "append";
/// Reads and writes bytes of a file at an offset (others know only datasets).
inline constexpr const char* kBytes = "bytes";

/// A backend that is built.
struct Entry {
  std::vector<OptionInfo> options;
  std::vector<const char*> capabilities;
  std::unique_ptr<Backend> (*make)(const Environment&, const std::vector<schema::Option>&);
  /// `Environment::sharers` is wanted: the backend makes calls together with other ranks.
  bool needs_sharers = false;
  /// Whether every transfer of a file is a call of all sharers, even if the plan does not ask for
  /// it; null where none is.
  bool (*moves_together)(const schema::File&) = nullptr;
  /// Whether the sharers of a file make it show the places of each step before they touch them
  /// (`Backend::show`); null where none does.
  bool (*shows_places)(const schema::File&) = nullptr;
  /// The library behind it, by name and version; null where there is none.
  std::string (*library)() = nullptr;
};

/// A row of the table: an interface and its entry, or the reason why there is none.
struct Row {
  schema::Interface interface;
  const Entry* entry;
  /// The file beside the engine that has its entry and was not loaded yet; else empty.
  const char* module;
  std::string reason;
};

/// All interfaces that a plan can name. Entries in modules are there after `row_of` only.
std::span<Row> table();
/// The row of one of them; loads its module.
const Row& row_of(schema::Interface interface);

/// Whether a backend can do something.
[[nodiscard]] inline bool can(const Entry& entry, std::string_view capability) {
  return std::any_of(entry.capabilities.begin(), entry.capabilities.end(),
                     [&](const char* each) { return each == capability; });
}

/// Whether every transfer of a file is a call of all its sharers.
[[nodiscard]] inline bool moves_together(const schema::File& file) {
  const Entry* entry = row_of(file.interface).entry;
  return entry->moves_together != nullptr && entry->moves_together(file);
}

/// Whether the sharers of a file make it show the places of each step.
[[nodiscard]] inline bool shows_places(const schema::File& file) {
  const Entry* entry = row_of(file.interface).entry;
  return entry->shows_places != nullptr && entry->shows_places(file);
}

/// Checks names and values of options against an entry. Throws base::Error (exit 2).
void check_options(const Entry& entry, const std::vector<schema::Option>& options,
                   const std::string& where);
/// The value of an option of that type, or its default. The options must have been checked.
bool boolean_option(const Entry& entry, const std::vector<schema::Option>& options,
                    const std::string& name);
double real_option(const Entry& entry, const std::vector<schema::Option>& options,
                   const std::string& name);
std::int64_t integer_option(const Entry& entry, const std::vector<schema::Option>& options,
                            const std::string& name);
std::uint64_t bytes_option(const Entry& entry, const std::vector<schema::Option>& options,
                           const std::string& name);
std::string word_option(const Entry& entry, const std::vector<schema::Option>& options,
                        const std::string& name);
std::string text_option(const Entry& entry, const std::vector<schema::Option>& options,
                        const std::string& name);

/// What a word of an option stands for.
struct WordValue {
  const char* word;
  int value;
};
/// What the word of an option stands for. Throws base::Error (exit 2) if `values` lacks it.
int word_value(const Entry& entry, const std::vector<schema::Option>& options,
               const std::string& name, std::span<const WordValue> values);

/// Wraps a backend so that the file's faults happen to it.
std::unique_ptr<Backend> make_faulty(std::unique_ptr<Backend> inner, const Environment& environment,
                                     const std::vector<schema::Fault>& faults);

}  // namespace venturi::backend

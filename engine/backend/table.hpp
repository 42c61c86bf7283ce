// The storage interfaces of this build: CMake writes the rows, each backend its own entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/description.hpp"
#include "schema/plan.hpp"

namespace venturi::backend {

/// A backend that is built. Options and capabilities are those of its description, and with MPI
/// those that only a library with MPI has.
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

/// A row of the table: an interface, what it is, and its entry or the reason why there is none.
struct Row {
  /// As plans name it.
  const char* name;
  const Description* description;
  const Entry* entry;
  /// The file beside the engine that has its entry and was not loaded yet; else empty.
  const char* module;
  std::string reason;
};

/// All interfaces that a plan can name. Entries in modules are there after `row_of` only.
std::span<Row> table();
/// A row of it, with its module loaded.
const Row& loaded(Row& row);
/// The row of an interface; loads its module.
const Row& row_of(schema::Interface interface);
/// What an interface is, whether it is built or not; loads nothing.
const Description& description_of(schema::Interface interface);

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

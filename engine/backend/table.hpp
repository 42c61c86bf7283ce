// The storage interfaces of this build: CMake writes the rows, each backend its own entry.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "schema/plan.hpp"

namespace venturi::backend {

/// One setting of a backend, declared beside it and nowhere else.
struct OptionInfo {
  const char* name;
  /// `boolean` or `real`.
  const char* type;
  const char* default_value;
  const char* about;
  /// Allowed values in words.
  const char* range;
};

/// A backend that is built.
struct Entry {
  std::vector<OptionInfo> options;
  std::vector<const char*> capabilities;
  std::unique_ptr<Backend> (*make)(const Environment&, const std::vector<schema::Option>&);
};

/// A row of the table: an interface and its entry, or the reason why there is none.
struct Row {
  schema::Interface interface;
  const Entry* entry;
  const char* reason;
};

/// All interfaces that a plan can name.
std::span<const Row> table();
/// The row of one of them.
const Row& row_of(schema::Interface interface);

/// Checks names and values of options against an entry. Throws base::Error (exit 2).
void check_options(const Entry& entry, const std::vector<schema::Option>& options,
                   const std::string& where);
/// The value of a `boolean` or `real` option, or its default.
bool boolean_option(const Entry& entry, const std::vector<schema::Option>& options,
                    const std::string& name);
double real_option(const Entry& entry, const std::vector<schema::Option>& options,
                   const std::string& name);

/// Wraps a backend so that the file's faults happen to it.
std::unique_ptr<Backend> make_faulty(std::unique_ptr<Backend> inner, const Environment& environment,
                                     const std::vector<schema::Fault>& faults);

}  // namespace venturi::backend

// Paths of files: rendering them, and judging whether they may be used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pattern/expression.hpp"

namespace venturi::pattern {

/// The path relative to the run's directory. Throws base::Error (exit 2) at `files.path`.
void render_path(const std::vector<schema::PathPart>& parts, const Slots& slots, std::string& out);
/// The same without an allocation once `out` is long enough.
void render_path(const std::vector<schema::PathPart>& parts, const Slots& slots,
                 Evaluator& evaluator, std::string& out);

/// Whether a relative path is in a folder in which commands work: who runs them removes it.
bool is_for_commands(std::string_view path);

/// Whether a relative path begins with a name that the engine uses itself in the run's directory.
bool is_reserved(std::string_view path);

/// Why the path must not be used by the engine, or nothing: it is absolute, empty, reserved, or
/// leaves the directory through `..`.
const char* path_fault(std::string_view path);

}  // namespace venturi::pattern

// The engine's commands; each returns the exit code.
#pragma once

#include <string>

namespace venturi::app {

/// `run PLAN.json|-`
int run_command(const std::string& plan, bool forked);
/// `describe`
int describe_command();
/// `evaluate`
int evaluate_command();
/// `clean [--kept] JOURNAL`
int clean_command(const std::string& journal, bool with_kept);

/// The text of a file, or of stdin for `-`. Throws base::Error (exit 2).
std::string read_text(const std::string& name);

}  // namespace venturi::app

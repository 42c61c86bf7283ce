// The engine's commands; each returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace venturi::app {

/// `run PLAN.json|-`
int run_command(const std::string& plan, bool forked);
/// `describe`
int describe_command();
/// `describe INTERFACE...`: rows of these alone, in the table's order; no other library is loaded
/// and no clock is calibrated. A name that the engine does not know has no row.
int describe_interfaces_command(const std::vector<std::string>& names);
/// `evaluate`
int evaluate_command();
/// `clean [--kept] JOURNAL`
int clean_command(const std::string& journal, bool with_kept);

/// `probe RING`: measures until it is asked to end
int probe_command(const std::string& path);
/// `probe --simulate RING LASTS LATENCY PERIOD STALL BEGIN STEP_AT STEP`: the real schedule on a
/// simulated clock and storage, all in nanoseconds
int probe_simulation_command(const std::string& path, const std::vector<std::string>& numbers);
/// `probe --remove RING`
int probe_removal_command(const std::string& path);

/// The text of a file, or of stdin for `-`. Throws base::Error (exit 2).
std::string read_text(const std::string& name);

}  // namespace venturi::app

// Starting the ranks: how a program becomes a group, and what happens when the group breaks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "comm/group.hpp"
#include "comm/notice.hpp"

namespace venturi::comm {

/// How many ranks, and what they do.
struct Launch {
  std::size_t ranks = 1;
  /// Fork even for one rank.
  bool forked = false;
  /// A rank that completes nothing for this long is reported; 0: never.
  double stall_s = 0.0;
  /// The run is ended when it takes longer, even if a rank cannot be stopped.
  std::optional<double> deadline_s = {};
  /// Called before that in each process that a user or a launcher started: before it forks ranks,
  /// so that those of one machine share what it makes, or when MPI has started.
  std::function<void()> on_started = [] {};
  /// What every rank runs; returns its exit code, or throws base::Error, which ends the group.
  std::function<int(Group&)> body;
  /// Called once, by a process that may write to stdout, after the group broke and nobody works
  /// any more.
  std::function<void(const base::Problem&)> on_broken;
  /// Called by the process that watches when rank 0 cannot report a notice itself.
  std::function<void(const Notice&)> on_notice;
};

/// Runs the body on all ranks and returns the exit code of the run. Throws base::Error (exit 3)
/// if the group cannot have that size: started by another MPI, or by mpirun without MPI.
int launch(const Launch& how);

/// What `venturi-engine describe` says about starting.
struct LaunchFacts {
  std::string comm;
  std::string library;
};
LaunchFacts launch_facts();

/// `ranks` processes of this machine with shared memory; this process watches them. Where nobody
/// wants one rank to be called forked, it is called alone.
int launch_forked(const Launch& how);
/// The processes that mpirun started. Only in the MPI engines.
int launch_mpi(const Launch& how);
/// The MPI library that the program is bound to.
std::string mpi_library();

}  // namespace venturi::comm

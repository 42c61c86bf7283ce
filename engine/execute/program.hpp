// The small tree of control around the leaves: loops, conditions, barriers and phases.
#pragma once

#include <vector>

#include "execute/context.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// Runs steps in order. Throws RunFailed on all ranks together after a phase in which one had
/// trouble.
void run_steps(Context& context, const std::vector<schema::Step>& steps);
/// The same of one step.
void run_step(Context& context, const schema::Step& step);

/// The step that is chosen for the current slots. Throws base::Error (exit 2) if there is none.
[[nodiscard]] const schema::Step& chosen_step(RankView& view, const schema::Choose& choice);

/// Makes the arrays from which the steps pack what they write, and reads the tables of their loops,
/// so that a phase need not.
void reserve_arrays(Context& context, const std::vector<schema::Step>& steps);

/// Whether ranks wait for each other somewhere in these steps.
[[nodiscard]] bool waits(const schema::Plan& plan, const std::vector<schema::Step>& steps);

/// Whether the steps wait for signals.
[[nodiscard]] bool has_waits(const std::vector<schema::Step>& steps);

/// Whether all sharers of the file make each call of a transfer together: as asked for, or because
/// the interface knows no other way.
[[nodiscard]] bool is_together(const schema::Plan& plan, const schema::Transfer& step);
/// Refuses a transfer that only some sharers of the file come to, where the interface moves data
/// with all of them or not at all.
void refuse_some(const schema::File& file, const schema::Transfer& step);
/// Whether the sharers of the file meet before a transfer, to show each its own places.
[[nodiscard]] bool meets_first(const schema::Plan& plan, const schema::Transfer& step);
/// Whether the steps have calls that ranks make together.
[[nodiscard]] bool has_collective(const schema::Plan& plan, const std::vector<schema::Step>& steps);

/// The file entries that the steps read or write data of.
[[nodiscard]] std::vector<std::size_t> data_files(const std::vector<schema::Step>& steps);

/// The file entries that the steps name.
[[nodiscard]] std::vector<std::size_t> used_files(const std::vector<schema::Step>& steps);
/// The file entries whose directories the steps make.
[[nodiscard]] std::vector<std::size_t> made_directories(const std::vector<schema::Step>& steps);
/// The file entries whose files or items the steps remove.
[[nodiscard]] std::vector<std::size_t> removed_files(const std::vector<schema::Step>& steps);
/// Whether ranks remove items that other ranks may have made.
[[nodiscard]] bool removes_others(const std::vector<schema::Step>& steps);
/// The file entries of whose items the steps make links.
[[nodiscard]] std::vector<std::size_t> linked_files(const std::vector<schema::Step>& steps);
/// The file entries of whose items the steps take windows that are counted from what is there.
[[nodiscard]] std::vector<std::size_t> moving_windows(const std::vector<schema::Step>& steps);
/// Whether a phase drops caches.
[[nodiscard]] bool drops_caches(const std::vector<schema::Step>& steps);

/// The loops around the current step, and where each is.
[[nodiscard]] std::vector<schema::Iteration> iterations(const RankView& view);

/// One measured phase, from its barrier to its event.
void run_phase(Context& context, const schema::Phase& phase);

}  // namespace venturi::execute

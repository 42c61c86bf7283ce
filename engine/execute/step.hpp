// The leaves of a program: each does its operations, or only waits when the rank is idle.
#pragma once

#include <cstdint>

#include "execute/context.hpp"
#include "pattern/row_cursor.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// Requests to an open file. Throws base::Error (exit 2) on expressions without a value.
void run_transfer(Context& context, const schema::Transfer& step);
/// The requests of a step for rows of a table, of `largest_bytes` at most, in a phase without a
/// limit that ends at its first error. The slots say which file; nothing is verified.
void run_rows(Context& context, const schema::Transfer& step, const pattern::RowCursor::Rows& rows,
              std::uint64_t largest_bytes);
/// One operation on a name, or on every directory of a tree. Collective where names are shared.
void run_manage(Context& context, const schema::Manage& step);
/// Verbs on every item of a tree.
void run_items(Context& context, const schema::Items& step);
/// Makes and writes this rank's items, unmeasured.
void create_items(Context& context, FileState& file);
/// Removes the links of this rank's items, unmeasured.
void remove_links(Context& context, FileState& file);
/// Walks over directories together with all other ranks. Collective.
void run_find(Context& context, const schema::Find& step);
/// Has a command run by whoever started the engine, and waits for its end. Collective.
void run_exec(Context& context, const schema::Exec& step);
/// Measures the machine itself by a kernel. Collective.
void run_kernel(Context& context, const schema::Kernel& step);
/// Makes an open file persistent.
void run_sync(Context& context, const schema::Sync& step);

/// Creates, opens or closes a file that its sharers open together. Collective.
void manage_together(Context& context, const schema::Manage& step, FileState& file);
/// Reports what the library says is in force for an open file, once for each entry.
void tell_facts(Context& context, FileState& file, backend::Handle handle);
/// Finds out which stamps an existing file bears that is to be verified; trouble if it bears none.
/// False then. Nothing is to be found out of files that this run makes.
bool find_stamps(Context& context, const FileState& file, OpenFile& open);
/// Whether the interface of a file wants that.
[[nodiscard]] bool is_opened_together(const schema::File& file);

/// Whether ranks wait for each other in a `manage` step.
[[nodiscard]] bool manage_waits(const schema::File& file, schema::NameVerb verb);

/// Closes what is still open, unmeasured.
void close_all(RunFiles& run_files);
/// Forgets what is known of trees: a repetition begins. Its trees are made anew.
void forget_trees(RunFiles& run_files);
/// Makes the directories of trees for which the program has no `mkdir`, unmeasured. Collective.
void make_trees(Context& context, EntryKind kind);
/// Writes the data that must be there before a repetition; `again`: only what the program of the
/// one before may have removed. Collective.
void prestage(Context& context, bool again);

}  // namespace venturi::execute

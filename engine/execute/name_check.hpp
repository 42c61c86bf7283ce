// Which files of a plan may be renamed, or copied, to which.
#pragma once

#include <string>

#include "schema/plan.hpp"

namespace venturi::execute {

/// These throw base::Error (exit 2), which says `where`, for two files that do not go together.
void check_renamed(const schema::File& source, const schema::File& target,
                   const std::string& where);
void check_copied(const schema::File& source, const schema::File& target, const std::string& where);
/// Items of one tree to those of another one.
void check_copied_items(const schema::File& source, const schema::File& target,
                        const std::string& where);

}  // namespace venturi::execute

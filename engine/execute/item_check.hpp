// The rules for trees and for steps on their items, beyond the schema.
#pragma once

#include <string>

#include "schema/plan.hpp"

namespace venturi::execute {

/// Throws base::Error (exit 2) at `where` if names of the tree are unsafe or not unique.
void check_tree(const schema::Tree& tree, const std::string& where);

/// Where a step on items stands.
struct ItemPlace {
  /// In a phase with a time limit.
  bool limited = false;
  /// Where not all ranks come equally often.
  bool uneven = false;
};

/// Throws base::Error (exit 2) at `where` if the verbs cannot follow each other on such items, or
/// not in this place.
void check_items(const schema::Items& step, const schema::File& file, const ItemPlace& place,
                 const std::string& where);

}  // namespace venturi::execute

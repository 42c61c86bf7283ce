// Judging pairs of files: what may get the name of another one, or its content.
#include "execute/name_check.hpp"

#include "base/error.hpp"

namespace venturi::execute {

using base::plan_error;

void check_copied(const schema::File& source, const schema::File& target,
                  const std::string& where) {
  const bool plain = !target.tree && !target.foreign && !target.content.verify && !source.tree &&
                     !target.prestage && &source != &target;
  if (!plain || source.sharing != target.sharing) {
    throw plan_error(where, "a plain file is copied to another one that is shared alike");
  }
}

void check_copied_items(const schema::File& source, const schema::File& target,
                        const std::string& where) {
  if (!source.tree || !target.tree || &source == &target || target.prestage) {
    throw plan_error(where, "items of a tree are copied to another one that is made");
  }
  const schema::Tree& one = *source.tree;
  const schema::Tree& other = *target.tree;
  if (one.depth != other.depth || one.branch != other.branch || one.owner != other.owner ||
      one.leaves != other.leaves || one.kind != other.kind) {
    throw plan_error(where, "items are copied between trees of one shape");
  }
}

void check_renamed(const schema::File& source, const schema::File& target,
                   const std::string& where) {
  const bool plain = !target.tree && !target.foreign && !target.content.verify &&
                     !target.prestage && !source.prestage && !source.content.verify;
  if (!plain || source.sharing != target.sharing) {
    throw plan_error(where, "a plain file gets the name of another one that is shared alike");
  }
}

}  // namespace venturi::execute

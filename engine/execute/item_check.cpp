// Judging the names of trees and the order of verbs.
#include "execute/item_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "execute/status_part.hpp"

namespace venturi::execute {
namespace {

using base::plan_error;
using schema::ItemVerb;
using schema::NameField;

bool has_field(const std::vector<schema::NamePart>& parts, NameField field) {
  return std::any_of(parts.begin(), parts.end(), [field](const schema::NamePart& part) {
    return part.field && *part.field == field;
  });
}

void check_texts(const std::vector<schema::NamePart>& parts, const std::string& where) {
  for (const schema::NamePart& part : parts) {
    const bool odd = std::any_of(part.text.begin(), part.text.end(), [](char letter) {
      return letter == '/' || static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
    });
    if (odd) throw plan_error(where, "a name has a slash or a control character in it");
  }
}

bool is_one_of(ItemVerb verb, std::initializer_list<ItemVerb> verbs) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

void check_kind(ItemVerb verb, schema::ItemKind kind, const std::string& where) {
  using enum ItemVerb;
  const bool directories_only = is_one_of(verb, {kMkdir, kRmdir, kReadDir});
  const bool any = is_one_of(verb, {kStat, kRename}) || status_part(verb);
  const bool directory = kind == schema::ItemKind::kDirectory;
  if (!any && directories_only != directory) {
    throw plan_error(where, fmt::format("{} is nothing that is done to an item that is a {}",
                                        to_string(verb), to_string(kind)));
  }
}

void check_order(const schema::Items& step, const schema::File& file, const ItemPlace& place,
                 const std::string& where) {
  const auto has = [&](std::initializer_list<ItemVerb> verbs) {
    return std::any_of(step.verbs.begin(), step.verbs.end(),
                       [&](ItemVerb verb) { return is_one_of(verb, verbs); });
  };
  using enum ItemVerb;
  if (has({kRename}) && !has({kCreate}) && (step.verbs.size() > 1 || step.shuffled)) {
    throw plan_error(
        where + ".verbs", "rename is a chain of its own, in order, or follows 'create'",
        "put nothing beside it and do not shuffle, or make the items in the same step");
  }
  if (has({kRename}) && file.content.verify) {
    throw plan_error(where + ".verbs", "content that is verified belongs to its name",
                     "rename files without content.verify");
  }
  if (has({kCopy}) != step.source.has_value() || has({kCopy}) != step.way.has_value()) {
    throw plan_error(where + ".source", "a copy, and nothing else, has a source and a way");
  }
  if (has({kCopy}) && (file.content.verify || has({kRename}))) {
    throw plan_error(where + ".verbs", "a copied item bears other stamps than its name says",
                     "copy without content.verify, and rename in a step of its own");
  }
  if (file.stripe && has({kMknod})) {
    throw plan_error(where + ".verbs", "mknod makes a file without its stripes",
                     "create it instead, or leave out 'stripe' of the file");
  }
  if (place.uneven && has({kCreate}) && file.content.verify) {
    throw plan_error(where + ".verbs",
                     "ranks that do not come here would not know what the items contain",
                     "make them on all ranks alike, or without content.verify");
  }
  if (place.limited && step.shuffled && has({kCreate, kMknod, kMkdir, kUnlink, kRmdir})) {
    throw plan_error(where + ".shuffled",
                     "what is made or removed in shuffled order under a limit cannot be found "
                     "again",
                     "do it in order, or without a limit");
  }
}

}  // namespace

void check_tree(const schema::Tree& tree, const std::string& where) {
  check_texts(tree.item_name, where + ".item_name");
  check_texts(tree.directory_name, where + ".directory_name");
  const auto& item = tree.item_name;
  if (!item.empty() && !has_field(item, NameField::kItem) && !has_field(item, NameField::kIndex)) {
    throw plan_error(where + ".item_name", "items of a directory would share one name");
  }
  const auto& directory = tree.directory_name;
  if (directory.empty()) return;
  if (!has_field(directory, NameField::kNode)) {
    throw plan_error(where + ".directory_name", "directories would share one name");
  }
  if (has_field(directory, NameField::kItem) || has_field(directory, NameField::kIndex)) {
    throw plan_error(where + ".directory_name", "a directory has no number of an item");
  }
}

void check_items(const schema::Items& step, const schema::File& file, const ItemPlace& place,
                 const std::string& where) {
  using enum ItemVerb;
  if (!file.tree) throw plan_error(where + ".file", "is not a tree");
  if (file.foreign) throw plan_error(where + ".file", "a foreign tree is not supported");
  const bool makes = std::find(step.verbs.begin(), step.verbs.end(), kCreate) != step.verbs.end();
  bool open = false;
  bool made = false;
  bool renamed = false;
  for (std::size_t i = 0; i < step.verbs.size(); ++i) {
    const ItemVerb verb = step.verbs[i];
    const std::string verb_place = fmt::format("{}.verbs[{}]", where, i);
    check_kind(verb, file.tree->kind, verb_place);
    const bool opens = is_one_of(verb, {kCreate, kOpen});
    if (verb == kCopy && open) throw plan_error(verb_place, "the item is open already");
    const bool needs = is_one_of(verb, {kWrite, kRead, kSync, kClose, kSetXattr, kGetXattr});
    if ((needs && !open) || (opens && open)) {
      throw plan_error(verb_place, open ? "the item is open already" : "the item is not open here");
    }
    if (verb == kRename && makes && (open || renamed || !made)) {
      throw plan_error(verb_place, "an item is renamed once, when it was made and closed");
    }
    renamed = renamed || verb == kRename;
    made = made || verb == kCreate;
    open = verb != kClose && (open || opens);
  }
  check_order(step, file, place, where);
}

}  // namespace venturi::execute

// The items of a tree: which of them a step takes, in which order, and what is known afterwards.
#include <algorithm>
#include <array>

#include "base/random.hpp"
#include "execute/item_work.hpp"
#include "execute/step.hpp"
#include "pattern/permutation.hpp"

namespace venturi::execute {
namespace {

using schema::ItemVerb;

/// One step on the items of one owner, whose place this rank takes.
class ItemInterpreter {
 public:
  ItemInterpreter(Context& context, FileState& file, backend::Backend& storage,
                  const schema::Items& step, std::uint64_t owner)
      : context_(context),
        file_(file),
        step_(step),
        owner_(owner),
        verbs_(step.verbs),
        tree_(file.trees.get(context, file)),
        work_(context, file, storage, step, tree_) {
    find_part();
    const ItemReach::Span there = tree_.reach->of(owner);
    find_window(there);
    if (verbs_.makes() && begin_ == 0) start_anew();
    if (step.counted_from == schema::CountedFrom::kStart) keep_to(there);
    if (step.source) end_ = std::min(end_, made_of(*step.source));
    work_.prepare_data(owner);
  }

  void run() {
    const std::uint64_t count = end_ > begin_ ? end_ - begin_ : 0;
    work_.expect(count);
    const std::uint64_t done = step_.shuffled ? run_shuffled(count) : run_sorted(count);
    work_.finish();
    note_written();
    if (verbs_.makes()) tree_.reach->note_made(owner_, begin_ + done);
    if (verbs_.removes()) tree_.reach->note_removed(owner_, begin_ + done);
    if ((verbs_.has(ItemVerb::kWrite) || verbs_.has(ItemVerb::kCopy)) && done > 0) {
      context_.note_write(file_, nullptr);
      note_durability();
    }
  }

 private:
  /// The owner's part of the tree: all items, or a block of them.
  void find_part() {
    const schema::Tree& tree = *file_.plan->tree;
    items_ = context_.evaluator.count(tree.items, context_.slots, "tree.items");
    first_node_ = pattern::first_item_node(tree);
    const std::uint64_t nodes = pattern::tree_nodes(tree.depth, tree.branch) - first_node_;
    if (__builtin_mul_overflow(items_, nodes, &total_)) {
      throw base::plan_error("tree.items", "the number of items does not fit into 64 bits");
    }
    if (tree.owner != schema::ItemOwner::kAll) return;
    const pattern::ItemPart own = pattern::item_part(total_, context_.group.size(), owner_);
    base_ = own.first;
    total_ = own.count;
  }

  void find_window(const ItemReach::Span& there) {
    begin_ =
        step_.first ? context_.evaluator.count(*step_.first, context_.slots, "items.first") : 0;
    end_ = total_;
    if (!step_.first && !step_.count) return;
    if (__builtin_add_overflow(begin_, origin_in(there), &begin_)) begin_ = ~std::uint64_t{0};
    const std::uint64_t left = total_ - std::min(total_, begin_);
    const std::uint64_t count =
        step_.count ? context_.evaluator.count(*step_.count, context_.slots, "items.count") : left;
    if (begin_ > total_ || count > left) {
      throw base::plan_error("items.first", "the window reaches beyond the items of the tree");
    }
    end_ = begin_ + count;
  }

  /// How many items of the tree that is copied are there.
  std::uint64_t made_of(std::int64_t source) {
    FileState& file = context_.files[static_cast<std::size_t>(source)];
    return file.trees.get(context_, file).reach->of(owner_).high;
  }

  /// What the window's first item is counted from. Before a phase has ended nothing is there.
  [[nodiscard]] std::uint64_t origin_in(const ItemReach::Span& there) const noexcept {
    if (step_.counted_from == schema::CountedFrom::kStart) return 0;
    if (step_.counted_from == schema::CountedFrom::kOldest) return there.low;
    return there.high == ItemReach::Span{}.high ? 0 : there.high;
  }

  /// Leaves out what limits of earlier phases left unmade, or what is gone.
  void keep_to(const ItemReach::Span& there) {
    if (verbs_.makes() && begin_ > there.high && begin_ < end_) {
      throw base::plan_error("items.first",
                             "items before these were not made, because a limit cut a phase short",
                             "make them in a phase without a limit");
    }
    begin_ = std::max(begin_, there.low);
    if (!verbs_.makes()) end_ = std::min(end_, there.high);
  }

  /// The items are made from the first on: what was known of them is over.
  void start_anew() {
    tree_.reach->restart(owner_);
    if (History* history = context_.history_of(file_); history != nullptr) history->restart();
  }

  /// Readers may rely on a step that every rank did on all items.
  void note_written() {
    History* history = context_.history_of(file_);
    if (history == nullptr || !verbs_.has(ItemVerb::kWrite) || file_.is_filling) return;
    history->note_number(context_.writes.number());
    constexpr auto kRankSlot = static_cast<std::size_t>(schema::Slot::kRank);
    const bool is_own = step_.owner.size() == 1 &&
                        pattern::reads_slot(step_.owner, std::array<std::size_t, 1>{kRankSlot});
    const bool is_whole = context_.writes.is_even(&step_) && !context_.limiter && is_own &&
                          !step_.first && !step_.count && !step_.bytes &&
                          !context_.goes_on_after_errors() && !file_.is_used_by_groups;
    if (!is_whole) return;
    history->whole_since = context_.writes.phase_first();
    history->whole_meetings = context_.writes.meetings();
  }

  std::uint64_t run_sorted(std::uint64_t count) {
    const std::uint64_t first = base_ + begin_;
    std::uint64_t node = items_ > 0 ? first / items_ : 0;
    std::uint64_t index = items_ > 0 ? first % items_ : 0;
    std::uint64_t done = 0;
    for (; done < count && !context_.idle(); ++done) {
      work_.do_item(first_node_ + node, index, first + done);
      if (++index == items_) {
        index = 0;
        ++node;
      }
    }
    return done;
  }

  std::uint64_t run_shuffled(std::uint64_t count) {
    const std::uint64_t key =
        base::combine(base::combine(static_cast<std::uint64_t>(context_.plan.seed), tree_.path_key),
                      base::combine(context_.repetition, owner_));
    const pattern::Permutation order(std::max<std::uint64_t>(count, 1), key);
    std::uint64_t done = 0;
    for (; done < count && !context_.idle(); ++done) {
      const std::uint64_t position = base_ + begin_ + order(done);
      work_.do_item(first_node_ + position / items_, position % items_, position);
    }
    return done;
  }

  /// Items are written, synced and closed one by one, so the verbs say what made them persistent.
  void note_durability() {
    const auto& verbs = step_.verbs;
    const bool copies = verbs_.has(ItemVerb::kCopy);
    const auto last = copies ? ItemVerb::kCopy : ItemVerb::kWrite;
    const auto write = std::find(verbs.rbegin(), verbs.rend(), last).base();
    OpenFile items{.path = "",
                   .unsynced_in = context_.next_serial - 1,
                   .unsynced_bytes = work_.written_bytes()};
    if (std::find(write, verbs.end(), ItemVerb::kSync) != verbs.end()) {
      context_.note_sync(&items, schema::SyncMode::kFsync);
    } else {
      context_.note_close(items);
    }
  }

  Context& context_;
  FileState& file_;
  const schema::Items& step_;
  std::uint64_t owner_;
  VerbSet verbs_;
  OpenTree& tree_;
  ItemWork work_;
  std::uint64_t items_ = 0;
  std::uint64_t first_node_ = 0;
  /// Items in the owner's part, and the position of its first one in the whole tree.
  std::uint64_t total_ = 0;
  std::uint64_t base_ = 0;
  /// The window in the owner's part.
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

/// Does a step on all items of this rank, before a repetition.
void fill(Context& context, FileState& file, const schema::Items& step) {
  const std::uint64_t rank = context.group.rank();
  if (file.plan->tree->owner == schema::ItemOwner::kShared && rank > 0) return;
  file.is_filling = true;
  ItemInterpreter(context, file, *file.plain, step, rank).run();
  file.is_filling = false;
}

}  // namespace

void run_items(Context& context, const schema::Items& step) {
  context.writes.note(&step);
  if (context.idle()) return;
  const std::uint64_t owner = context.owner_of(step.owner);
  const ActAs acting(context, owner);
  FileState& file = context.files[static_cast<std::size_t>(step.file)];
  ItemInterpreter(context, file, *file.storage, step, owner).run();
}

void create_items(Context& context, FileState& file) {
  if (context.idle()) return;
  schema::Items step;
  step.verbs = {ItemVerb::kCreate, ItemVerb::kWrite, ItemVerb::kClose};
  if (file.plan->tree->kind == schema::ItemKind::kDirectory) step.verbs = {ItemVerb::kMkdir};
  fill(context, file, step);
}

void remove_links(Context& context, FileState& file) {
  if (context.idle()) return;
  schema::Items step;
  step.verbs = {ItemVerb::kUnlinkLink, ItemVerb::kUnlinkSymlink};
  fill(context, file, step);
}

}  // namespace venturi::execute

// The items of a tree: many small files, each with the same verbs, names rewritten in place.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <unordered_map>

#include "base/random.hpp"
#include "execute/make_name.hpp"
#include "execute/step.hpp"
#include "pattern/name.hpp"
#include "pattern/permutation.hpp"

namespace venturi::execute {
namespace {

using backend::Backend;
using backend::Directory;
using backend::Handle;
using backend::OpenMode;
using schema::ItemVerb;
using schema::OperationKind;

/// Open directories of a tree; all stay open as long as there are few.
class NodeDirectories {
 public:
  NodeDirectories(Context& context, Backend& storage, std::string path, std::uint64_t branch)
      : context_(context), storage_(storage), path_(std::move(path)), branch_(branch) {}
  NodeDirectories(const NodeDirectories&) = delete;
  NodeDirectories& operator=(const NodeDirectories&) = delete;
  ~NodeDirectories() { close_all(); }

  /// The directory of a node, or an errno; EEXIST if it is not the one that the run made.
  int get(std::uint64_t node, Directory& out) {
    if (const auto found = open_.find(node); found != open_.end()) {
      out = found->second;
      return 0;
    }
    if (open_.size() >= kMostOpen) close_all();
    const std::string path = path_of(node);
    if (const int error = storage_.open_directory(path.c_str(), out)) return error;
    backend::Identity found;
    if (storage_.identify(out, found) == 0 && context_.manifest->denies(path, found)) {
      storage_.close_directory(out);
      return EEXIST;
    }
    open_.emplace(node, out);
    return 0;
  }
  [[nodiscard]] std::string path_of(std::uint64_t node) const {
    return path_ + pattern::tree_node_path(node, branch_);
  }

 private:
  static constexpr std::size_t kMostOpen = 256;

  void close_all() {
    for (const auto& [node, directory] : open_) storage_.close_directory(directory);
    open_.clear();
  }

  Context& context_;
  Backend& storage_;
  std::string path_;
  std::uint64_t branch_;
  std::unordered_map<std::uint64_t, Directory> open_;
};

/// One pass over the items of one owner.
class Walk {
 public:
  Walk(Context& context, FileState& file, Backend& storage, std::span<const ItemVerb> verbs,
       std::uint64_t owner)
      : context_(context),
        file_(file),
        storage_(storage),
        verbs_(verbs),
        owner_(owner),
        name_(owner),
        nodes_(context, storage, context.path_of(*file.plan),
               static_cast<std::uint64_t>(file.plan->tree->branch)),
        path_key_(base::key_of(context.path_of(*file.plan))) {
    const schema::Tree& tree = *file.plan->tree;
    node_count_ = pattern::tree_nodes(tree.depth, tree.branch);
    items_ = context.evaluator.count(tree.items, context.slots, "tree.items");
    size_bytes_ = context.evaluator.count(tree.size, context.slots, "tree.size");
    if (__builtin_mul_overflow(items_, node_count_, &total_)) {
      throw base::plan_error("tree.items", "the number of items does not fit into 64 bits");
    }
    const auto has = [&](ItemVerb verb) {
      return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
    };
    creates_ = has(ItemVerb::kCreate);
    if (creates_) file.reach.restart();
    total_ = std::min(total_, file.reach.of(owner));
    verify_ = file.plan->content.verify;
    if (verify_) {
      std::uint64_t& generation = context.generation_of(file);
      generation += static_cast<std::uint64_t>(creates_);
      generation_ = generation;
    }
    if (has(ItemVerb::kWrite)) write_data_ = context.filler(*file.plan, size_bytes_);
    if (has(ItemVerb::kRead)) {
      read_data_ = context.read_buffer.reserve(size_bytes_ + 1);
      context.note_read(file, owner);
    }
  }

  void run(bool shuffled) {
    const std::uint64_t key =
        base::combine(base::combine(static_cast<std::uint64_t>(context_.plan.seed), path_key_),
                      base::combine(context_.repetition, owner_));
    const pattern::Permutation order(std::max<std::uint64_t>(total_, 1), key);
    std::uint64_t written = 0;
    for (std::uint64_t i = 0; i < total_ && !context_.idle(); ++i) {
      const std::uint64_t index = shuffled ? order(i) : i;
      do_item(index / items_, index % items_);
      ++written;
    }
    if (creates_ && context_.limiter) {
      file_.reach.note(owner_, context_.group.size(), written);
    }
    if (write_data_ != nullptr && written > 0) {
      context_.note_write(file_, nullptr);
      note_durability();
    }
  }

 private:
  void do_item(std::uint64_t node, std::uint64_t item) {
    node_ = node;
    item_ = item;
    Directory directory = 0;
    int error = nodes_.get(node, directory);
    if (error == ENOENT && creates_ && !file_.has_mkdir) error = make_node(node, directory);
    if (error != 0) {
      context_.fail_operation(
          {.kind = OperationKind::kOpen, .path = nodes_.path_of(node), .error = error},
          error == EEXIST ? kNotOurs : storage_.hint(error));
      return;
    }
    const char* name = name_(item);
    handle_.reset();
    bytes_ = 0;
    operations_ = 0;
    last_ns_ = context_.clock.now_ns();
    for (const ItemVerb verb : verbs_) {
      if (!apply(verb, directory, name)) break;
    }
    // A handle that the program leaves open would only fill the table of descriptors.
    if (handle_) file_.plain->close(*handle_);
    context_.after_operations(last_ns_, bytes_, operations_);
  }

  int make_node(std::uint64_t node, Directory& directory) {
    NameMaker maker(context_, file_, *file_.plain);
    const std::string path = nodes_.path_of(node);
    const int error = maker.make_directory(path);
    if (error != 0 && error != EEXIST) return error;
    if (error == 0) {
      maker.list_directory(path, file_.plan->keep ? EntryKind::kKeptTree : EntryKind::kTree);
    }
    return nodes_.get(node, directory);
  }

  bool apply(ItemVerb verb, Directory directory, const char* name) {
    backend::Identity identity;
    switch (verb) {
      case ItemVerb::kCreate:
        return finish(OperationKind::kCreate, create(directory, name));
      case ItemVerb::kOpen:
        return finish(OperationKind::kOpen, open(directory, name, OpenMode::kReadWrite));
      case ItemVerb::kWrite:
        return move(schema::Direction::kWrite, write_data_);
      case ItemVerb::kRead:
        return move(schema::Direction::kRead, read_data_);
      case ItemVerb::kSync:
        return finish(OperationKind::kSync, storage_.sync(*handle_, schema::SyncMode::kFsync));
      case ItemVerb::kClose: {
        const Handle handle = *handle_;
        handle_.reset();
        return finish(OperationKind::kClose, storage_.close(handle));
      }
      case ItemVerb::kStat:
        return finish(OperationKind::kStat, storage_.stat(directory, name, identity));
      case ItemVerb::kUnlink:
        return finish(OperationKind::kUnlink, storage_.unlink(directory, name));
    }
    return false;
  }

  int open(Directory directory, const char* name, OpenMode mode) {
    Handle handle = 0;
    const int error = storage_.open(directory, name, mode, handle);
    if (error == 0) handle_ = handle;
    return error;
  }

  int create(Directory directory, const char* name) {
    const int error = open(directory, name, OpenMode::kCreate);
    // The directory is ours and so are such names in it: this is an item of an earlier pass.
    return error == EEXIST ? open(directory, name, OpenMode::kTruncate) : error;
  }

  /// The operation that ended now; one clock reading is its end and the next one's beginning.
  bool finish(OperationKind kind, int error) {
    const std::uint64_t end = context_.clock.now_ns();
    if (error == EEXIST) {
      context_.fail_operation({.kind = kind, .path = item_path(), .error = error}, kNotOurs);
      return false;
    }
    if (error != 0) {
      fail(kind, error, "");
      return false;
    }
    context_.meter().record(kind, last_ns_, end, 0);
    last_ns_ = end;
    ++operations_;
    return true;
  }

  bool move(schema::Direction direction, std::byte* data) {
    const bool writes = direction == schema::Direction::kWrite;
    const OperationKind kind = writes ? OperationKind::kWrite : OperationKind::kRead;
    const std::span<std::byte> bytes(data, size_bytes_);
    if (verify_) {
      if (writes) {
        stamp().fill(bytes, 0);
      } else {
        payload::poison(bytes);
      }
      last_ns_ = context_.clock.now_ns();
    }
    std::uint64_t moved = 0;
    backend::Completion completion;
    do {
      const backend::Request request{moved, size_bytes_ - moved, data + moved};
      storage_.submit(*handle_, direction, {&request, 1}, {&completion, 1});
      moved += completion.bytes;
      if (moved < size_bytes_ && completion.bytes > 0) context_.meter().count_short();
    } while (completion.error == 0 && completion.bytes > 0 && moved < size_bytes_);
    if (moved < size_bytes_) {
      fail(kind, completion.error, writes ? "nothing more was written" : "the file ends here");
      return false;
    }
    context_.meter().record(kind, last_ns_, completion.end_ns, size_bytes_);
    context_.meter().count_size(kind, size_bytes_, 1);
    last_ns_ = completion.end_ns;
    bytes_ += size_bytes_;
    ++operations_;
    if (verify_ && !writes) check(bytes);
    return true;
  }

  void check(std::span<const std::byte> bytes) {
    const payload::Stamp expected = stamp();
    const backend::Request whole{0, bytes.size(), nullptr};
    if (!expected.matches(bytes, 0) && storage_.knows(*handle_, whole)) {
      context_.fail_verification(
          {.kind = OperationKind::kRead, .path = item_path(), .what = expected.explain(bytes, 0)});
    }
    last_ns_ = context_.clock.now_ns();
  }

  [[nodiscard]] payload::Stamp stamp() const {
    const std::uint64_t key =
        base::combine(path_key_, base::combine(node_, base::combine(owner_, item_)));
    return context_.stamp(*file_.plan, key, generation_);
  }

  void fail(OperationKind kind, int error, const char* what) {
    context_.fail_operation(
        {.kind = kind, .path = item_path(), .error = error, .what = error != 0 ? "" : what},
        storage_.hint(error));
  }

  [[nodiscard]] std::string item_path() const {
    return fmt::format("{}/f.{}.{}", nodes_.path_of(node_), owner_, item_);
  }

  /// Items are written, synced and closed one by one, so the verbs say what made them persistent.
  void note_durability() {
    const auto sync = std::find(verbs_.begin(), verbs_.end(), ItemVerb::kSync);
    const auto write = std::find(verbs_.rbegin(), verbs_.rend(), ItemVerb::kWrite).base();
    const bool synced =
        std::find(write, verbs_.end(), ItemVerb::kSync) != verbs_.end() && sync != verbs_.end();
    OpenFile items{.path = "", .unsynced_in = context_.next_serial - 1};
    if (synced) {
      context_.note_sync(&items, schema::SyncMode::kFsync);
    } else {
      context_.note_close(items);
    }
  }

  Context& context_;
  FileState& file_;
  Backend& storage_;
  std::span<const ItemVerb> verbs_;
  std::uint64_t owner_;
  pattern::ItemName name_;
  NodeDirectories nodes_;
  std::uint64_t path_key_;
  std::uint64_t node_count_ = 0;
  std::uint64_t items_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t size_bytes_ = 0;
  bool creates_ = false;
  bool verify_ = false;
  std::uint64_t generation_ = 0;
  std::byte* write_data_ = nullptr;
  std::byte* read_data_ = nullptr;
  // Of the current item.
  std::uint64_t node_ = 0;
  std::uint64_t item_ = 0;
  std::optional<Handle> handle_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace

void run_items(Context& context, const schema::Items& step) {
  if (context.idle()) return;
  const std::uint64_t owner = context.owner_of(step.owner);
  const ActAs acting(context, owner);
  FileState& file = context.files[static_cast<std::size_t>(step.file)];
  Walk(context, file, *file.storage, step.verbs, owner).run(step.shuffled);
}

void create_items(Context& context, FileState& file) {
  constexpr ItemVerb kVerbs[] = {ItemVerb::kCreate, ItemVerb::kWrite, ItemVerb::kClose};
  if (context.idle()) return;
  Walk(context, file, *file.plain, kVerbs, context.group.rank()).run(false);
}

}  // namespace venturi::execute

// One item after the other: calls, their times, data and its verification.
#include "execute/item_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/random.hpp"
#include "execute/copy.hpp"
#include "execute/make_name.hpp"
#include "execute/status_part.hpp"

namespace venturi::execute {

using backend::Handle;
using backend::OpenMode;
using schema::ItemVerb;
using schema::OperationKind;

namespace {

constexpr const char* kAttribute = "user.venturi";
constexpr double kSpinS = 0.01;

constexpr OperationKind named_kind(ItemVerb verb) {
  switch (verb) {
    case ItemVerb::kCreate:
      return OperationKind::kCreate;
    case ItemVerb::kOpen:
      return OperationKind::kOpen;
    case ItemVerb::kWrite:
      return OperationKind::kWrite;
    case ItemVerb::kRead:
      return OperationKind::kRead;
    case ItemVerb::kSync:
      return OperationKind::kSync;
    case ItemVerb::kClose:
      return OperationKind::kClose;
    case ItemVerb::kStat:
      return OperationKind::kStat;
    case ItemVerb::kUnlink:
    case ItemVerb::kUnlinkLink:
    case ItemVerb::kUnlinkSymlink:
      return OperationKind::kUnlink;
    case ItemVerb::kMknod:
      return OperationKind::kMknod;
    case ItemVerb::kMkdir:
      return OperationKind::kMkdir;
    case ItemVerb::kRmdir:
      return OperationKind::kRmdir;
    case ItemVerb::kReadDir:
      return OperationKind::kReadDir;
    case ItemVerb::kRename:
      return OperationKind::kRename;
    case ItemVerb::kLink:
      return OperationKind::kLink;
    case ItemVerb::kSymlink:
      return OperationKind::kSymlink;
    case ItemVerb::kSetXattr:
      return OperationKind::kSetXattr;
    case ItemVerb::kGetXattr:
      return OperationKind::kGetXattr;
    case ItemVerb::kCopy:
      return OperationKind::kCopy;
    case ItemVerb::kSetMode:
    case ItemVerb::kSetOwner:
    case ItemVerb::kSetTimes:
      return OperationKind::kSetAttribute;
  }
  return {};
}

constexpr std::size_t kVerbs = schema::kItemVerbWords.size();

/// The kinds of all verbs: reading a table costs less than choosing.
constexpr std::array<OperationKind, kVerbs> kKindOf = [] {
  std::array<OperationKind, kVerbs> kinds{};
  for (std::size_t verb = 0; verb < kVerbs; ++verb) {
    kinds[verb] = named_kind(static_cast<ItemVerb>(verb));
  }
  return kinds;
}();

/// Items are counted after so much time, or when something else is to be looked at.
constexpr std::uint64_t kCountNs = 100'000;
/// Counting together pays from so many items on.
constexpr std::uint64_t kFewItems = 4;

/// Copies a name and what follows it; names were checked to be short enough.
void put(std::array<char, pattern::kMostNameBytes + 1>& out, const char* name,
         const char* suffix) noexcept {
  const std::size_t bytes = std::strlen(name);
  std::memcpy(out.data(), name, bytes);
  std::memcpy(out.data() + bytes, suffix, std::strlen(suffix) + 1);
}

}  // namespace

ItemWork::ItemWork(Context& context, FileState& file, backend::Backend& storage,
                   const schema::Items& step, OpenTree& tree)
    : context_(context),
      file_(file),
      storage_(storage),
      step_(step),
      tree_(tree),
      source_(step.source ? &context.files[static_cast<std::size_t>(*step.source)] : nullptr),
      source_tree_(source_ != nullptr ? &source_->trees.get(context, *source_) : nullptr),
      verbs_(step.verbs),
      items_(context.evaluator.count(file.plan->tree->items, context.slots, "tree.items")),
      made_(context, file, tree, items_),
      owner_key_(0),
      most_bytes_(step.bytes ? context.evaluator.count(*step.bytes, context.slots, "items.bytes")
                             : ~std::uint64_t{0}),
      written_sizes_(context.meter(), OperationKind::kWrite),
      read_sizes_(context.meter(), OperationKind::kRead),
      attribute_bytes_(static_cast<std::size_t>(step.attribute_bytes)),
      moves_(verbs_.has(ItemVerb::kWrite) || verbs_.has(ItemVerb::kRead)),
      names_itself_(verbs_.has(ItemVerb::kCreate) && verbs_.has(ItemVerb::kRename)) {
  const schema::Tree& plan = *file.plan->tree;
  if (plan.owner == schema::ItemOwner::kRank) {
    constexpr auto kRankSlot = static_cast<std::size_t>(schema::Slot::kRank);
    owner_key_ = static_cast<std::uint64_t>(context.slots[kRankSlot].integer());
  }
  tree.sizes.restart(context.evaluator.count(plan.size, context.slots, "tree.size"),
                     base::combine(static_cast<std::uint64_t>(context.plan.seed), owner_key_));
  for (const schema::SizeShare& share : plan.sizes) {
    tree.sizes.add(context.evaluator.count(share.bytes, context.slots, "tree.sizes"),
                   static_cast<std::uint64_t>(share.weight));
  }
}

void ItemWork::prepare_data(std::uint64_t owner) {
  const std::uint64_t most_bytes = tree_.sizes.most_bytes();
  verify_ = file_.plan->content.verify;
  owner_ = owner;
  if (verify_) history_ = context_.history_of(file_);
  if (!verify_) stream_ = context_.stream(file_);
  const bool sets = verbs_.has(ItemVerb::kSetXattr);
  if (verbs_.has(ItemVerb::kWrite) || sets) {
    write_data_ =
        context_.filler(*file_.plan, sets ? std::max(most_bytes, attribute_bytes_) : most_bytes);
  }
  if (verbs_.has(ItemVerb::kRead)) {
    read_data_ = context_.read_buffer.reserve(most_bytes + 1);
    context_.note_read(file_, owner);
  }
  if (verbs_.has(ItemVerb::kCopy)) context_.note_read(*source_, owner);
  if (verbs_.has(ItemVerb::kGetXattr)) {
    read_data_ = context_.read_buffer.reserve(std::max(most_bytes, attribute_bytes_) + 1);
  }
}

// These make one loop of verbs, which would cost twice as much in pieces.

/// Notes an operation that began when the one before ended.
[[gnu::always_inline]] inline void ItemWork::note(OperationKind kind, std::uint64_t end_ns,
                                                  std::uint64_t bytes) {
  const std::uint64_t end = std::max(end_ns, last_ns_);
  if (strands_) {
    strands_->add(kind, last_ns_, end, bytes);
  } else {
    context_.meter().record(kind, last_ns_, end, bytes);
  }
  last_ns_ = end;
  bytes_ += bytes;
  ++operations_;
}

/// Whether an item that is put there before a repetition needs nothing more.
bool ItemWork::is_as_it_should_be(OperationKind kind, int error) {
  if (!file_.is_filling) return false;
  return (kind == OperationKind::kMkdir && error == EEXIST &&
          made_.is_ours(ItemName::kOwn, index_)) ||
         (kind == OperationKind::kUnlink && error == ENOENT);
}

/// The operation that ended now; one clock reading is its end and the next one's beginning.
[[gnu::always_inline]] inline bool ItemWork::finish_call(OperationKind kind, int error) {
  const std::uint64_t end = context_.clock.now_ns();
  if (error != 0 && !is_as_it_should_be(kind, error)) [[unlikely]] {
    fail(kind, error, "");
    return false;
  }
  note(kind, end, 0);
  return true;
}

/// A call that makes a name of the item; an errno.
template <class Call>
[[gnu::always_inline]] inline int ItemWork::make(ItemName name, const Call& call) {
  made_.intend(name, index_, last_ns_);
  const int error = call();
  made_.settle(name, index_, error == 0);
  return error;
}

/// A call that removes one; an errno.
template <class Call>
[[gnu::always_inline]] inline int ItemWork::remove(ItemName name, const Call& call) {
  const int error = call();
  if (error == 0) made_.remove(name, index_);
  return error;
}

/// The one call of a verb; an errno.
[[gnu::always_inline]] inline int ItemWork::call(ItemVerb verb) {
  switch (verb) {
    case ItemVerb::kCreate:
      return create();
    case ItemVerb::kOpen:
      return open(OpenMode::kReadWrite);
    case ItemVerb::kSync:
      return storage_.sync(*handle_, schema::SyncMode::kFsync);
    case ItemVerb::kClose: {
      const Handle handle = *handle_;
      handle_.reset();
      return storage_.close(handle);
    }
    case ItemVerb::kStat: {
      const int error = handle_ ? storage_.stat_open(*handle_) : ENOTSUP;
      return error != ENOTSUP ? error : storage_.stat(directory_, name_);
    }
    case ItemVerb::kUnlink:
      return remove(ItemName::kOwn, [&] { return storage_.unlink(directory_, name_); });
    case ItemVerb::kUnlinkLink:
      return remove(ItemName::kLink,
                    [&] { return storage_.unlink(directory_, with_suffix(pattern::kLinkSuffix)); });
    case ItemVerb::kUnlinkSymlink:
      return remove(ItemName::kSymlink, [&] {
        return storage_.unlink(directory_, with_suffix(pattern::kSymlinkSuffix));
      });
    case ItemVerb::kMknod:
      return make(ItemName::kOwn, [&] { return storage_.make_node(directory_, name_); });
    case ItemVerb::kMkdir:
      return make(ItemName::kOwn, [&] { return storage_.make_directory(directory_, name_); });
    case ItemVerb::kRmdir:
      return remove(ItemName::kOwn, [&] { return storage_.remove_directory(directory_, name_); });
    case ItemVerb::kReadDir: {
      std::uint64_t count = 0;
      return storage_.read_directory(directory_, name_, count);
    }
    case ItemVerb::kLink:
      return make(ItemName::kLink, [&] {
        return storage_.link(directory_, name_, with_suffix(pattern::kLinkSuffix));
      });
    case ItemVerb::kSymlink:
      return make(ItemName::kSymlink, [&] {
        return storage_.symlink(directory_, name_, with_suffix(pattern::kSymlinkSuffix));
      });
    case ItemVerb::kSetXattr:
      return storage_.set_attribute(*handle_, kAttribute, {write_data_, attribute_bytes_});
    case ItemVerb::kGetXattr:
      return storage_.get_attribute(*handle_, kAttribute, {read_data_, attribute_bytes_});
    case ItemVerb::kSetMode:
    case ItemVerb::kSetOwner:
    case ItemVerb::kSetTimes:
      return set_status(*status_part(verb));
    case ItemVerb::kWrite:
    case ItemVerb::kRead:
    case ItemVerb::kRename:
    case ItemVerb::kCopy:
      break;
  }
  return ENOTSUP;
}

[[gnu::always_inline]] inline bool ItemWork::apply(ItemVerb verb) {
  switch (verb) {
    case ItemVerb::kWrite:
      return move(schema::Direction::kWrite, write_data_);
    case ItemVerb::kRead:
      return move(schema::Direction::kRead, read_data_);
    case ItemVerb::kRename:
      return names_itself_ ? name_item() : rename();
    case ItemVerb::kCopy:
      return copy();
    default:
      return finish_call(kKindOf[static_cast<std::size_t>(verb)], call(verb));
  }
}

void ItemWork::do_item(std::uint64_t node, std::uint64_t index, std::uint64_t position) {
  if (node != open_node_ && !enter(node)) return;
  node_ = node;
  index_ = index;
  if (moves_) size_bytes_ = std::min(tree_.sizes(position), most_bytes_);
  name_ = tree_.item_name(node, node * items_ + index, index);
  handle_.reset();
  if (stale_) last_ns_ = context_.clock.now_ns();
  const std::uint64_t begin_ns = last_ns_;
  if (names_itself_) {
    put(aside_name_, name_, pattern::kAsideSuffix);
    put(free_name_, name_, "");
    name_ = aside_name_.data();
  }
  stale_ = false;
  for (std::size_t number = 0; number < step_.verbs.size(); ++number) {
    if (!step_.thinks_s.empty()) think(step_.thinks_s[number]);
    if (apply(step_.verbs[number])) continue;
    stale_ = true;  // the time of what failed is nobody's latency
    break;
  }
  // A handle that the program leaves open would only fill the table of descriptors.
  if (handle_) {
    file_.plain->close(*handle_);
    stale_ = true;
  }
  if (step_.wait_factor > 0.0) wait(begin_ns);
  const bool is_watched = context_.limiter && !context_.limiter->running();
  if (!strands_ || is_watched || last_ns_ - counted_ns_ >= kCountNs) settle();
}

void ItemWork::expect(std::uint64_t items) {
  // Copies count by themselves what they turn out to be.
  if (items <= kFewItems || context_.clock.is_simulated() || source_ != nullptr) return;
  strands_.emplace(context_.meter());
  counted_ns_ = context_.clock.now_ns();
}

/// Counts what was done, and looks at limits and at others.
void ItemWork::settle() {
  if (strands_) strands_->settle();
  stale_ |= context_.after_operations(last_ns_, bytes_, operations_);
  bytes_ = 0;
  operations_ = 0;
  counted_ns_ = last_ns_;
}

/// Opens the directory of the items that come now.
bool ItemWork::enter(std::uint64_t node) {
  end_chain();
  stale_ = true;
  OpenTree::Node found;
  int error = file_.trees.directory(context_, file_, tree_, node, found);
  if (error == ENOENT && verbs_.makes() && !file_.has_mkdir) error = make_node(node, found);
  open_node_ = error == 0 ? node : kNoNode;
  if (error == 0) {
    directory_ = found.directory;
    made_.enter(node, found.identity);
    return true;
  }
  context_.fail_request(
      {.kind = OperationKind::kOpen, .path = path_of_node(file_, tree_, node), .error = error},
      error == EEXIST ? kNotOurs : storage_.hint(error));
  return false;
}

int ItemWork::make_node(std::uint64_t node, OpenTree::Node& out) {
  NameMaker maker(context_, file_, *file_.plain);
  const std::string path = path_of_node(file_, tree_, node);
  const int error = maker.make_directory(path);
  if (error != 0 && error != EEXIST) return error;
  if (error == 0) {
    maker.list_name(path, file_.plan->keep ? EntryKind::kKeptTree : EntryKind::kTree);
  }
  return file_.trees.directory(context_, file_, tree_, node, out);
}

int ItemWork::set_status(backend::StatusPart part) {
  const int error = handle_ ? storage_.set_open_status(*handle_, part) : ENOTSUP;
  return error != ENOTSUP ? error : storage_.set_status(directory_, name_, part);
}

int ItemWork::open(OpenMode mode) {
  Handle handle = 0;
  const int error = storage_.open(directory_, name_, mode, handle);
  if (error == 0) handle_ = handle;
  return error;
}

int ItemWork::create() {
  const ItemName name = names_itself_ ? ItemName::kAside : ItemName::kOwn;
  const int error = make(name, [&] { return open(OpenMode::kCreate); });
  // An item of an earlier pass; what somebody else put there stays as it is.
  return error == EEXIST && made_.is_ours(name, index_) ? open(OpenMode::kTruncate) : error;
}

/// Opens the item of the other tree with the same number; an errno.
int ItemWork::open_source(Handle& out) {
  OpenTree::Node found;
  const int error = source_->trees.directory(context_, *source_, *source_tree_, node_, found);
  if (error != 0) return error;
  const char* name = source_tree_->item_name(node_, node_ * items_ + index_, index_);
  return source_->storage->open(found.directory, name, OpenMode::kReadWrite, out);
}

bool ItemWork::copy() {
  Handle source = 0;
  if (!finish_call(OperationKind::kOpen, open_source(source))) return false;
  bool fine = finish_call(OperationKind::kCreate, create());
  if (fine) {
    const CopyOutcome done = copy_content(
        context_, {*source_->storage, source, storage_, *handle_, *step_.way}, last_ns_);
    last_ns_ = done.end_ns;
    operations_ += done.operations;
    bytes_ += done.bytes;
    written_bytes_ += done.bytes;
    fine = done.error == 0;
    if (!fine) fail(done.kind, done.error, "");
  }
  fine = fine && finish_call(OperationKind::kClose, call(ItemVerb::kClose));
  const int error = source_->storage->close(source);
  return fine && finish_call(OperationKind::kClose, error);
}

/// One more link of the chain: the item takes the name that is free, and leaves its own.
bool ItemWork::rename() {
  if (!in_chain_) {
    put(aside_name_, name_, pattern::kAsideSuffix);
    put(free_name_, aside_name_.data(), "");
    chain_index_ = index_;
    made_.intend(ItemName::kAside, index_, last_ns_);
  }
  const int error = storage_.rename(directory_, name_, free_name_.data());
  if (!in_chain_) made_.settle(ItemName::kAside, index_, error == 0);
  in_chain_ = finish_call(OperationKind::kRename, error);
  if (!in_chain_) return false;
  put(free_name_, name_, "");
  return true;
}

/// The item that was made aside gets its name; one of an earlier pass that has it is gone.
bool ItemWork::name_item() {
  const char* aside = name_;
  made_.intend(ItemName::kOwn, index_, last_ns_);
  int error = storage_.rename(directory_, aside, free_name_.data());
  made_.settle(ItemName::kOwn, index_, error == 0);
  if (error == EEXIST && made_.is_ours(ItemName::kOwn, index_)) {
    error = storage_.replace(directory_, aside, free_name_.data());
  }
  if (error == 0) made_.remove(ItemName::kAside, index_);
  name_ = free_name_.data();
  return finish_call(OperationKind::kRename, error);
}

/// The first item takes the last name, so that all names are there again.
void ItemWork::end_chain() {
  if (!in_chain_ || context_.failed()) return;
  in_chain_ = false;
  last_ns_ = context_.clock.now_ns();
  const int error = storage_.rename(directory_, aside_name_.data(), free_name_.data());
  if (error == 0) made_.remove(ItemName::kAside, chain_index_);
  finish_call(OperationKind::kRename, error);
}

void ItemWork::finish() {
  end_chain();
  if (operations_ > 0) settle();
}

bool ItemWork::move(schema::Direction direction, std::byte* data) {
  if (size_bytes_ == 0) return true;  // nothing is asked of the storage
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
  } else if (writes && stream_ != nullptr) {
    stream_->fill(bytes);
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
  const bool cut = moved < size_bytes_ && verify_ && !writes && completion.error == 0;
  if (cut) {
    context_.fail_verification(
        {.kind = kind, .path = item_path()},
        {.damage = schema::Damage::kTruncated,
         .offset = moved,
         .bytes = size_bytes_ - moved,
         .what = fmt::format("truncated: the file ends at offset {}, {} bytes are missing", moved,
                             size_bytes_ - moved)});
  } else if (moved < size_bytes_) {
    fail(kind, completion.error, writes ? "nothing more was written" : "the file ends here");
    return false;
  }
  note(kind, completion.end_ns, size_bytes_);
  (writes ? written_sizes_ : read_sizes_).add(size_bytes_);
  if (writes) written_bytes_ += size_bytes_;
  if (verify_ && !writes && !cut) check(bytes);
  return true;
}

void ItemWork::check(std::span<const std::byte> bytes) {
  payload::Stamp expected = stamp();
  // Another rank may not have come to the latest step yet.
  const bool is_settled =
      file_.plan->tree->owner != schema::ItemOwner::kShared && owner_ == context_.group.rank();
  const bool counts = is_settled || history_->whole_meetings < context_.writes.meetings();
  expected.accept(
      {.first = counts ? history_->whole_since : std::nullopt, .numbers = history_->numbers});
  const backend::Request whole{0, bytes.size(), nullptr};
  if (!expected.matches(bytes, 0) && storage_.knows(*handle_, whole)) {
    context_.fail_verification({.kind = OperationKind::kRead, .path = item_path()},
                               expected.examine(bytes, 0));
  }
  last_ns_ = context_.clock.now_ns();
}

/// Computing before an operation.
void ItemWork::think(double seconds) {
  if (seconds <= 0.0) return;
  const Span spent = context_.think(last_ns_, seconds);
  context_.meter().add_compute(spent.end_ns - spent.begin_ns);
  last_ns_ = spent.end_ns;
}

/// Computing between items, as a multiple of the time that the item took.
void ItemWork::wait(std::uint64_t begin_ns) {
  const double seconds = step_.wait_factor * base::seconds(last_ns_ - begin_ns);
  if (seconds < kSpinS) {
    context_.spin(last_ns_, seconds);
  } else {
    context_.pause(seconds);
  }
  const std::uint64_t end = context_.clock.now_ns();
  context_.meter().add_compute(end - last_ns_);
  last_ns_ = end;
}

void ItemWork::fail(OperationKind kind, int error, const char* what) {
  context_.fail_request(
      {.kind = kind, .path = item_path(), .error = error, .what = error != 0 ? "" : what},
      error == EEXIST ? kNotOurs : storage_.hint(error));
}

const char* ItemWork::with_suffix(const char* suffix) noexcept {
  put(other_name_, name_, suffix);
  return other_name_.data();
}

payload::Stamp ItemWork::stamp() const {
  const std::uint64_t key =
      base::combine(tree_.path_key, base::combine(node_, base::combine(owner_key_, index_)));
  const std::uint64_t write = file_.is_filling ? 0 : context_.writes.number();
  return context_.stamp(*file_.plan, key, history_->created, write);
}

std::string ItemWork::item_path() {
  // Copied first: the path of the directory is made with buffers of its own.
  const std::string name = name_;
  return path_of_node(file_, tree_, node_) + "/" + name;
}

}  // namespace venturi::execute

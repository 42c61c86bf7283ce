// The work on one item of a tree: its verbs in order, measured one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "execute/context.hpp"
#include "execute/made_items.hpp"
#include "execute/size_count.hpp"
#include "execute/tree_set.hpp"
#include "measure/strands.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// The verbs of a step, to be asked often.
class VerbSet {
 public:
  explicit VerbSet(std::span<const schema::ItemVerb> verbs) noexcept {
    for (const schema::ItemVerb verb : verbs) bits_ |= bit(verb);
  }
  [[nodiscard]] bool has(schema::ItemVerb verb) const noexcept { return (bits_ & bit(verb)) != 0; }
  /// New items come into being.
  [[nodiscard]] bool makes() const noexcept {
    using enum schema::ItemVerb;
    return (bits_ & (bit(kCreate) | bit(kMknod) | bit(kMkdir) | bit(kCopy))) != 0;
  }
  [[nodiscard]] bool removes() const noexcept {
    using enum schema::ItemVerb;
    return (bits_ & (bit(kUnlink) | bit(kRmdir))) != 0;
  }

 private:
  static constexpr std::uint64_t bit(schema::ItemVerb verb) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(verb);
  }

  std::uint64_t bits_ = 0;
};

/// Does the verbs of a step on items, one after the other. Nothing is allocated for an item, and
/// items that take a short time are counted together.
class ItemWork {
 public:
  /// `storage` is the file's, with or without its faults; `rank` in the slots is the owner.
  ItemWork(Context& context, FileState& file, backend::Backend& storage, const schema::Items& step,
           OpenTree& tree);

  /// `position` is the item's place in the whole tree, directory by directory.
  void do_item(std::uint64_t node, std::uint64_t index, std::uint64_t position);
  /// After the last item.
  void finish();
  /// The step has so many items.
  void expect(std::uint64_t items);

  /// Gets what is written, and room for what is read, of the largest item.
  void prepare_data(std::uint64_t owner);

  /// Of all items so far.
  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_bytes_; }

 private:
  static constexpr std::size_t kNameBytes = pattern::kMostNameBytes + 1;
  static constexpr std::uint64_t kNoNode = ~std::uint64_t{0};
  using Name = std::array<char, kNameBytes>;

  bool enter(std::uint64_t node);
  int make_node(std::uint64_t node, OpenTree::Node& out);
  bool apply(schema::ItemVerb verb);
  int call(schema::ItemVerb verb);
  int set_status(backend::StatusPart part);
  int open(backend::OpenMode mode);
  int create();
  template <class Call>
  int make(ItemName name, const Call& call);
  template <class Call>
  int remove(ItemName name, const Call& call);
  bool copy();
  int open_source(backend::Handle& out);
  bool rename();
  bool name_item();
  void end_chain();
  bool finish_call(schema::OperationKind kind, int error);
  [[nodiscard]] bool is_as_it_should_be(schema::OperationKind kind, int error);
  void note(schema::OperationKind kind, std::uint64_t end_ns, std::uint64_t bytes);
  void settle();
  bool move(schema::Direction direction, std::byte* data);
  void check(std::span<const std::byte> bytes);
  void think(double seconds);
  void wait(std::uint64_t begin_ns);
  void fail(schema::OperationKind kind, int error, const char* what);
  [[nodiscard]] const char* with_suffix(const char* suffix) noexcept;
  [[nodiscard]] payload::Stamp stamp() const;
  [[nodiscard]] std::string item_path();

  Context& context_;
  FileState& file_;
  backend::Backend& storage_;
  const schema::Items& step_;
  OpenTree& tree_;
  /// Where items are copied from; null: nowhere.
  FileState* source_;
  OpenTree* source_tree_;
  VerbSet verbs_;
  std::uint64_t items_;
  MadeItems made_;
  std::uint64_t owner_key_;
  /// Bytes of each item that are moved at most.
  std::uint64_t most_bytes_;
  /// Counted when the step is over.
  SizeRun written_sizes_;
  SizeRun read_sizes_;
  bool verify_ = false;
  History* history_ = nullptr;
  std::uint64_t owner_ = 0;
  std::byte* write_data_ = nullptr;
  /// Where the bytes of writes come from; null: they need not be made.
  payload::Stream* stream_ = nullptr;
  std::byte* read_data_ = nullptr;
  std::size_t attribute_bytes_;
  /// Something is written or read.
  bool moves_;
  backend::Directory directory_ = 0;
  std::uint64_t open_node_ = kNoNode;
  /// The clock must be read before the next operation, because other things happened since.
  bool stale_ = true;
  // Of the current item.
  std::uint64_t node_ = 0;
  std::uint64_t index_ = 0;
  std::uint64_t size_bytes_ = 0;
  const char* name_ = nullptr;
  std::optional<backend::Handle> handle_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t written_bytes_ = 0;
  // Since they were last counted.
  std::optional<measure::Strands> strands_;
  std::uint64_t bytes_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t counted_ns_ = 0;
  /// Items are made aside and then renamed, instead of the chain of renames.
  bool names_itself_;
  // Of the chain of renames: the name that is free now, and the first item's name aside.
  bool in_chain_ = false;
  std::uint64_t chain_index_ = 0;
  Name free_name_;
  Name aside_name_;
  Name other_name_;
};

}  // namespace venturi::execute

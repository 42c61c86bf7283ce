// The plan document: generated from the model of the same name by `make gen`; do not edit.
// clang-format off
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace venturi::schema {

struct Pattern;
struct Step;

/// What the faulty wrapper does to an operation; `drop`: a write is told as made, and is not.
enum class FaultKind { kEio, kEnospc, kShort, kDelay, kFlip, kHang, kDrop };
inline constexpr std::array<std::string_view, 7> kFaultKindWords{"eio", "enospc", "short", "delay",
    "flip", "hang", "drop"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(FaultKind) {
  return kFaultKindWords;
}
[[nodiscard]] constexpr std::string_view to_string(FaultKind value) {
  return kFaultKindWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `FaultKind`.
[[nodiscard]] std::optional<FaultKind> parse_fault_kind(std::string_view word);

/// How storage is reached. What is built is said by `engine describe`.
enum class Interface { kPosix, kUring, kMmap, kStdio, kMpiio, kHdf5, kPnetcdf, kNetcdf, kFieldstore,
    kLime, kBundle, kS3, kRados, kNull, kSimulated };
inline constexpr std::array<std::string_view, 15> kInterfaceWords{"posix", "uring", "mmap", "stdio",
    "mpiio", "hdf5", "pnetcdf", "netcdf", "fieldstore", "lime", "bundle", "s3", "rados", "null",
    "simulated"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(Interface) {
  return kInterfaceWords;
}
[[nodiscard]] constexpr std::string_view to_string(Interface value) {
  return kInterfaceWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `Interface`.
[[nodiscard]] std::optional<Interface> parse_interface(std::string_view word);

/// Types of the elements of a dataset.
enum class ElementType { kF64, kF32, kI64, kI32, kI16, kI8 };
inline constexpr std::array<std::string_view, 6> kElementTypeWords{"f64", "f32", "i64", "i32",
    "i16", "i8"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(ElementType) {
  return kElementTypeWords;
}
[[nodiscard]] constexpr std::string_view to_string(ElementType value) {
  return kElementTypeWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `ElementType`.
[[nodiscard]] std::optional<ElementType> parse_element_type(std::string_view word);

/// The closed set of instructions of an expression (integers are checked 64-bit).
enum class Operator { kInteger, kReal, kVariable, kAdd, kSubtract, kMultiply, kDivide, kFloorDivide,
    kModulo, kPower, kNegate, kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual, kNot,
    kMinimum, kMaximum, kCeil, kFloor, kIsqrt, kLog2, kCeilTo, kNumroc, kBlock, kSkew, kPermute,
    kDraw, kSameSlotNextNode, kRandomRemoteRank, kJump, kJumpIfFalse };
inline constexpr std::array<std::string_view, 34> kOperatorWords{"integer", "real", "variable",
    "add", "subtract", "multiply", "divide", "floor_divide", "modulo", "power", "negate", "less",
    "less_equal", "greater", "greater_equal", "equal", "not_equal", "not", "minimum", "maximum",
    "ceil", "floor", "isqrt", "log2", "ceil_to", "numroc", "block", "skew", "permute", "draw",
    "same_slot_next_node", "random_remote_rank", "jump", "jump_if_false"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(Operator) {
  return kOperatorWords;
}
[[nodiscard]] constexpr std::string_view to_string(Operator value) {
  return kOperatorWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `Operator`.
[[nodiscard]] std::optional<Operator> parse_operator(std::string_view word);

/// The variables that every expression may read; loop variables follow in later slots.
enum class Slot { kRank, kRanks, kWorld, kInstance, kNode, kIteration, kNodeRank, kNodeRanks };
inline constexpr std::array<std::string_view, 8> kSlotWords{"rank", "ranks", "world", "instance",
    "node", "iteration", "node_rank", "node_ranks"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(Slot) {
  return kSlotWords;
}
[[nodiscard]] constexpr std::string_view to_string(Slot value) {
  return kSlotWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `Slot`.
[[nodiscard]] std::optional<Slot> parse_slot(std::string_view word);

/// How the starts of requests lie in time when they follow a rate.
enum class Arrivals { kFixed, kPoisson };
inline constexpr std::array<std::string_view, 2> kArrivalsWords{"fixed", "poisson"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(Arrivals) {
  return kArrivalsWords;
}
[[nodiscard]] constexpr std::string_view to_string(Arrivals value) {
  return kArrivalsWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `Arrivals`.
[[nodiscard]] std::optional<Arrivals> parse_arrivals(std::string_view word);

/// What happens to cached pages of the phase's files before the phase starts.
enum class CachePolicy { kKeep, kDrop };
inline constexpr std::array<std::string_view, 2> kCachePolicyWords{"keep", "drop"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(CachePolicy) {
  return kCachePolicyWords;
}
[[nodiscard]] constexpr std::string_view to_string(CachePolicy value) {
  return kCachePolicyWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `CachePolicy`.
[[nodiscard]] std::optional<CachePolicy> parse_cache_policy(std::string_view word);

/// Whether time passes by itself or only as the simulated storage says.
enum class ClockKind { kReal, kSimulated };
inline constexpr std::array<std::string_view, 2> kClockKindWords{"real", "simulated"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(ClockKind) {
  return kClockKindWords;
}
[[nodiscard]] constexpr std::string_view to_string(ClockKind value) {
  return kClockKindWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `ClockKind`.
[[nodiscard]] std::optional<ClockKind> parse_clock_kind(std::string_view word);

/// How a rank spends the time between its I/O.
enum class ComputeMode { kSleep, kSpin };
inline constexpr std::array<std::string_view, 2> kComputeModeWords{"sleep", "spin"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(ComputeMode) {
  return kComputeModeWords;
}
[[nodiscard]] constexpr std::string_view to_string(ComputeMode value) {
  return kComputeModeWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `ComputeMode`.
[[nodiscard]] std::optional<ComputeMode> parse_compute_mode(std::string_view word);

/// How a file is copied at first; where the storage cannot, it goes on as `range` does, and at
/// last by reads and writes.
enum class CopyWay { kClone, kRange, kSend };
inline constexpr std::array<std::string_view, 3> kCopyWayWords{"clone", "range", "send"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(CopyWay) {
  return kCopyWayWords;
}
[[nodiscard]] constexpr std::string_view to_string(CopyWay value) {
  return kCopyWayWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `CopyWay`.
[[nodiscard]] std::optional<CopyWay> parse_copy_way(std::string_view word);

/// Where the first item of a window is counted from.
enum class CountedFrom { kStart, kOldest, kNewest };
inline constexpr std::array<std::string_view, 3> kCountedFromWords{"start", "oldest", "newest"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(CountedFrom) {
  return kCountedFromWords;
}
[[nodiscard]] constexpr std::string_view to_string(CountedFrom value) {
  return kCountedFromWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `CountedFrom`.
[[nodiscard]] std::optional<CountedFrom> parse_counted_from(std::string_view word);

/// Which way the bytes go.
enum class Direction { kWrite, kRead };
inline constexpr std::array<std::string_view, 2> kDirectionWords{"write", "read"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(Direction) {
  return kDirectionWords;
}
[[nodiscard]] constexpr std::string_view to_string(Direction value) {
  return kDirectionWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `Direction`.
[[nodiscard]] std::optional<Direction> parse_direction(std::string_view word);

/// What the items of a tree are.
enum class ItemKind { kFile, kDirectory };
inline constexpr std::array<std::string_view, 2> kItemKindWords{"file", "directory"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(ItemKind) {
  return kItemKindWords;
}
[[nodiscard]] constexpr std::string_view to_string(ItemKind value) {
  return kItemKindWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `ItemKind`.
[[nodiscard]] std::optional<ItemKind> parse_item_kind(std::string_view word);

/// Whose the items of a tree are.
enum class ItemOwner { kRank, kAll, kShared };
inline constexpr std::array<std::string_view, 3> kItemOwnerWords{"rank", "all", "shared"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(ItemOwner) {
  return kItemOwnerWords;
}
[[nodiscard]] constexpr std::string_view to_string(ItemOwner value) {
  return kItemOwnerWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `ItemOwner`.
[[nodiscard]] std::optional<ItemOwner> parse_item_owner(std::string_view word);

/// What is done to each item of a tree, one item after the other.
enum class ItemVerb { kCreate, kOpen, kWrite, kRead, kSync, kClose, kStat, kUnlink, kMknod, kMkdir,
    kRmdir, kReadDir, kRename, kLink, kSymlink, kUnlinkLink, kUnlinkSymlink, kSetXattr, kGetXattr,
    kCopy, kSetMode, kSetOwner, kSetTimes };
inline constexpr std::array<std::string_view, 23> kItemVerbWords{"create", "open", "write", "read",
    "sync", "close", "stat", "unlink", "mknod", "mkdir", "rmdir", "read_dir", "rename", "link",
    "symlink", "unlink_link", "unlink_symlink", "set_xattr", "get_xattr", "copy", "set_mode",
    "set_owner", "set_times"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(ItemVerb) {
  return kItemVerbWords;
}
[[nodiscard]] constexpr std::string_view to_string(ItemVerb value) {
  return kItemVerbWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `ItemVerb`.
[[nodiscard]] std::optional<ItemVerb> parse_item_verb(std::string_view word);

/// A number in the name of a directory or an item of a tree.
enum class NameField { kNode, kItem, kIndex };
inline constexpr std::array<std::string_view, 3> kNameFieldWords{"node", "item", "index"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(NameField) {
  return kNameFieldWords;
}
[[nodiscard]] constexpr std::string_view to_string(NameField value) {
  return kNameFieldWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `NameField`.
[[nodiscard]] std::optional<NameField> parse_name_field(std::string_view word);

/// What is done to one name.
enum class NameVerb { kCreate, kOpen, kClose, kStat, kUnlink, kMkdir, kRmdir, kReadDir, kRename,
    kTruncate, kCopy, kSetMode, kSetOwner, kSetTimes, kMiss };
inline constexpr std::array<std::string_view, 15> kNameVerbWords{"create", "open", "close", "stat",
    "unlink", "mkdir", "rmdir", "read_dir", "rename", "truncate", "copy", "set_mode", "set_owner",
    "set_times", "miss"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(NameVerb) {
  return kNameVerbWords;
}
[[nodiscard]] constexpr std::string_view to_string(NameVerb value) {
  return kNameVerbWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `NameVerb`.
[[nodiscard]] std::optional<NameVerb> parse_name_verb(std::string_view word);

/// What a rank does once a request, or an operation on an item of a tree, has failed.
enum class OnError { kStop, kGoOn };
inline constexpr std::array<std::string_view, 2> kOnErrorWords{"stop", "go on"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(OnError) {
  return kOnErrorWords;
}
[[nodiscard]] constexpr std::string_view to_string(OnError value) {
  return kOnErrorWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `OnError`.
[[nodiscard]] std::optional<OnError> parse_on_error(std::string_view word);

/// The operations whose counts, bytes, times and latencies are kept apart.
enum class OperationKind { kWrite, kRead, kOpen, kCreate, kClose, kStat, kUnlink, kMkdir, kRmdir,
    kSync, kRename, kLink, kSymlink, kMknod, kReadDir, kSetXattr, kGetXattr, kTruncate, kFind,
    kExec, kCopy, kClone, kSeek, kEmptyRead, kSetAttribute, kMiss };
inline constexpr std::array<std::string_view, 26> kOperationKindWords{"write", "read", "open",
    "create", "close", "stat", "unlink", "mkdir", "rmdir", "sync", "rename", "link", "symlink",
    "mknod", "read_dir", "set_xattr", "get_xattr", "truncate", "find", "exec", "copy", "clone",
    "seek", "empty_read", "set_attribute", "miss"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(OperationKind) {
  return kOperationKindWords;
}
[[nodiscard]] constexpr std::string_view to_string(OperationKind value) {
  return kOperationKindWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `OperationKind`.
[[nodiscard]] std::optional<OperationKind> parse_operation_kind(std::string_view word);

/// What makes data persistent.
enum class SyncMode { kNone, kFsync, kFdatasync, kFlush, kFileSystem };
inline constexpr std::array<std::string_view, 5> kSyncModeWords{"none", "fsync", "fdatasync",
    "flush", "file_system"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(SyncMode) {
  return kSyncModeWords;
}
[[nodiscard]] constexpr std::string_view to_string(SyncMode value) {
  return kSyncModeWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `SyncMode`.
[[nodiscard]] std::optional<SyncMode> parse_sync_mode(std::string_view word);

/// Who shares one file: all ranks of the group, one rank, one node, or every n ranks.
enum class Sharing { kAll, kRank, kNode, kEvery };
inline constexpr std::array<std::string_view, 4> kSharingWords{"all", "rank", "node", "every"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(Sharing) {
  return kSharingWords;
}
[[nodiscard]] constexpr std::string_view to_string(Sharing value) {
  return kSharingWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `Sharing`.
[[nodiscard]] std::optional<Sharing> parse_sharing(std::string_view word);

/// A fault that the faulty wrapper injects into the file's interface.
struct Fault {
  FaultKind kind = {};
  OperationKind operation = {};
  /// The first operation of that kind on a rank that is hit, from 1.
  std::int64_t nth = 1;
  /// 0: only that one; n: every n-th from there on.
  std::int64_t every = 0;
  std::int64_t rank = -1;
  /// How long `delay` lasts.
  double seconds = 0.0;
};

/// What the bytes are.
struct Content {
  std::int64_t seed = 0;
  /// Stamp every word with seed, file, generation and offset, and check what is read.
  bool verify = false;
  /// Share of each 4 KiB that is zero: 0 does not compress, 1 is all zeros.
  double compressibility = 0.0;
  /// Share of the 4 KiB pages that repeat the page before them; absent: none.
  std::optional<double> duplicates = {};
  /// All requests of a rank write the same bytes, as IOR's do; not with `verify`.
  bool repeats = false;
};

/// Equal n-dimensional arrays in a self-describing file; several bear a number: `name_0003`.
struct Dataset {
  std::string name = {};
  std::int64_t copies = 1;
  ElementType type = {};
  std::vector<std::int64_t> shape;
  /// Elements of a chunk along each dimension; empty: contiguous.
  std::vector<std::int64_t> chunk;
  /// Level of compression; 0 is none.
  std::int64_t deflate = 0;
  bool shuffle = false;
};

/// One setting of a storage interface, by the name that `engine describe` gives.
struct Option {
  std::string name = {};
  std::string value = {};
};

/// How a file system lays out a new file over its servers.
struct Stripe {
  /// Servers (or targets) of a file; 0: the directory's own setting, -1: all that there are.
  std::int64_t count = 0;
  /// What lies together on one of them; 0: the directory's own setting.
  std::int64_t bytes = 0;
};

/// One step of the stack machine that evaluates an expression.
struct Instruction {
  Operator operator_ = {};
  /// The literal of `integer`, the slot of `variable`, the target index of a jump.
  std::int64_t integer = 0;
  /// The literal of `real`.
  double real = 0.0;
};

using Expression = std::vector<Instruction>;

/// A piece of a path: fixed text, or a number printed with leading zeros.
struct PathPart {
  std::string text = {};
  std::optional<Expression> value = {};
  std::int64_t width = 0;
};

/// Bytes that a workload names: text, or numbers back to back.
struct LiteralContent {
  /// Empty: numbers.
  std::vector<PathPart> text;
  std::vector<Expression> numbers;
  /// Of the numbers; one that does not fit is refused.
  ElementType type = ElementType::kI32;
  bool big_endian = false;
};

/// A piece of a name in a tree: text, then a value that is fixed for an owner, then a field.
struct NamePart {
  std::string text = {};
  std::optional<Expression> value = {};
  std::optional<NameField> field = {};
  /// Leading zeros up to this many digits.
  std::int64_t width = 0;
};

/// A size of items, and how many of every so many items have it.
struct SizeShare {
  Expression bytes;
  std::int64_t weight = 0;
};

/// Directories and items below the file's path: node k > 0 is child of (k - 1) // branch.
struct Tree {
  std::int64_t depth = 0;
  std::int64_t branch = 1;
  /// Items in each directory, of each owner.
  Expression items;
  /// Bytes of each item, as `write` and `read` move them.
  Expression size;
  /// Instead of `size`: of as many items as the weights add up to, `weight` have that size.
  std::vector<SizeShare> sizes;
  ItemKind kind = ItemKind::kFile;
  ItemOwner owner = ItemOwner::kRank;
  /// Items are in the deepest directories only.
  bool leaves = false;
  /// Names of directories below the root; none: `d.<node>`.
  std::vector<NamePart> directory_name;
  /// Names of items; none: `f.<owner>.<item>`.
  std::vector<NamePart> item_name;
};

/// What a variable is in each row of a loop's table.
struct TurnColumn {
  /// Its slot.
  std::int64_t variable = 0;
  /// Base64 of a number for each row: little-endian integers with a sign, of 1, 2, 4 or 8 bytes,
  /// whichever the length shows.
  std::string values = {};
};

/// A loop over whose turns the names of a prestaged file run.
struct StagedLoop {
  /// The slot of the loop variable.
  std::int64_t variable = 0;
  std::int64_t count = 0;
  /// Other variables that have a value of their own in each turn.
  std::vector<TurnColumn> columns;
};

/// A file, a family of files (one per rank, one per iteration) or a tree of files.
struct File {
  std::string name = {};
  std::vector<PathPart> path;
  Interface interface = {};
  std::vector<Option> options;
  /// Words for MPI-IO's library, which takes those that it knows.
  std::vector<Option> hints;
  /// Where the file system has it; others are refused before any I/O.
  std::optional<Stripe> stripe = {};
  Sharing sharing = Sharing::kAll;
  /// The number of ranks that share a file when `sharing` is `every`.
  std::int64_t every = 1;
  Content content = {};
  /// What a self-describing format holds; others lay the bytes out themselves.
  std::vector<Dataset> datasets;
  std::optional<Tree> tree = {};
  /// All writes go where the file ends.
  bool append = false;
  /// Bytes that each rank writes into its part, unmeasured, before the first repetition.
  std::optional<Expression> prestage = {};
  /// Where loops choose the name: every name of theirs is prestaged.
  std::vector<StagedLoop> staged_loops;
  bool keep = false;
  /// An existing file that somebody else made: it is only ever read.
  bool foreign = false;
  std::vector<Fault> faults;
};

/// One level of an affine nest.
struct Loop {
  Expression count;
  /// Bytes between two turns of this level.
  Expression stride;
};

/// Regular access: offset = base + sum(index * stride), outermost loop first.
struct Nest {
  Expression base;
  std::vector<Loop> loops;
};

/// One level of a walk over a dataset: a step along one dimension, or to the next copy.
struct BoxLoop {
  /// -1 is the next of several equal datasets.
  std::int64_t dimension = 0;
  Expression count;
  /// Elements (or copies) between two turns.
  Expression step;
};

/// Parts of an n-dimensional dataset: one request is a box of `extent` elements.
///
/// Request (i, j, ...) begins at `start` + i * step + j * step ... along the loops' dimensions,
/// outermost loop first. Its bytes are the step's `size`.
struct Box {
  /// Index into the file's datasets.
  std::int64_t dataset = 0;
  /// Which of several equal datasets is the first; absent: 0.
  std::optional<Expression> first_copy = {};
  std::vector<Expression> start;
  std::vector<Expression> extent;
  std::vector<BoxLoop> loops;
};

/// Random access: request i touches slot p(first + i * step) at base + slot * size.
///
/// `p` is a keyed permutation of the slots, or, with replacement, a uniform choice, or, with an
/// exponent, one whose k-th most frequent slot comes in proportion to k ** -zipf.
struct Random {
  Expression base;
  Expression slots;
  Expression count;
  Expression first;
  Expression step;
  bool replacement = false;
  /// Only with replacement; 0: uniform.
  double zipf = 0.0;
};

/// Requests back to back from `base` on, whatever their sizes.
struct Packed {
  Expression base;
  Expression count;
};

/// Requests that go where the file ends.
struct Append {
  Expression count;
};

/// Requests from the rank's position in the open file on, moved to `base` before if that is.
struct Sequential {
  std::optional<Expression> base = {};
  Expression count;
};

/// One request of a table.
struct TableRow {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// At most 4096 requests in order; in turn k all of them `base` + k * `stride` further on.
struct Table {
  Expression base;
  Expression turns;
  Expression stride;
  std::vector<TableRow> rows;
};

/// One of these, by `kind`.
struct Pattern {
  std::variant<Nest, Random, Box, Packed, Append, Sequential, Table> value;
};

/// A size of requests and how many of every so many have it.
struct MixPart {
  Expression bytes;
  std::int64_t weight = 0;
};

/// A rank's part of a dataset lies between guard cells in memory: writes are packed from there.
///
/// Reads are put there. In row-major order; copy i is the variable i modulo `variables`.
struct Halo {
  /// Elements of the part along each dimension, without guard cells.
  std::vector<Expression> extent;
  /// Guard cells on each side along each dimension.
  std::vector<std::int64_t> guard;
  std::int64_t element_bytes = 0;
  /// So many lie beside each other, element by element.
  std::int64_t variables = 1;
};

/// Run the body `count` times; the variable runs over 0 ... count - 1, or over so many rows.
struct For {
  /// The slot of the loop variable.
  std::int64_t variable = 0;
  Expression count;
  /// Other variables that have a value of their own in each row of a table.
  std::vector<TurnColumn> columns;
  /// How many there are in all; 0 without columns.
  std::int64_t rows = 0;
  /// The row of the first turn, where it is not 0: each rank has rows of its own.
  std::optional<Expression> first = {};
  std::vector<Step> body;
};

/// Do one step of the body: the one with this number, from 0.
struct Choose {
  Expression number;
  std::vector<Step> body;
};

/// Run the body if the condition is not 0.
struct When {
  Expression condition;
  std::vector<Step> body;
};

/// The measured unit: all ranks start it together, and it becomes one row of the record.
struct Phase {
  /// Its name, with the names of enclosing phases before it: `a/b`.
  std::string path = {};
  /// Each rank stops here; then all do the largest count, for `bound_s` at most.
  std::optional<double> limit_s = {};
  double bound_s = 0.0;
  /// A phase that is not over then ends the run, even if a rank cannot be stopped.
  std::optional<double> deadline_s = {};
  CachePolicy cache = CachePolicy::kKeep;
  /// Before the phase all ranks together write and read a scratch file of this size.
  std::int64_t overfill_bytes = 0;
  /// Share of each node's memory that is locked while the phase runs.
  double occupy_share = 0.0;
  /// Of requests, and of operations on items; whatever else fails ends the run.
  OnError on_error = OnError::kStop;
  std::vector<Step> body;
};

/// Run the body, and again from its beginning until the phase is so old.
struct Repeat {
  double at_least_s = 0.0;
  std::vector<Step> body;
};

/// All ranks of the group wait for each other.
struct Barrier {
};

/// Let groups know that something happened once more; nobody waits for their answer.
struct Signal {
  std::vector<PathPart> name;
  /// Indices of the groups that wait for signals that this one may be.
  std::vector<std::int64_t> to;
};

/// All ranks of the group wait until a signal was given so often in this repetition.
struct Wait {
  std::vector<PathPart> name;
  Expression count;
};

/// Time in which the application computes.
struct Compute {
  Expression seconds;
  ComputeMode mode = ComputeMode::kSleep;
};

/// Move data between memory and an open file, one request after the other.
struct Transfer {
  Direction operation = {};
  /// Index into the plan's files.
  std::int64_t file = 0;
  /// The rank in whose place this rank acts: its own, or that of another writer.
  Expression owner;
  /// Bytes of each request; of the largest, where sizes differ.
  Expression size;
  Pattern pattern = {};
  /// Sizes of requests: of all requests of the step, the exact share of the weights.
  std::vector<MixPart> mix;
  /// Exact share of the requests of a `write` that read instead.
  double reads = 0.0;
  /// Requests begin at this rate, whenever those before them end; latency counts from the
  /// intended start. 0: each begins when the one before it has ended.
  double rate_per_s = 0.0;
  Arrivals arrivals = Arrivals::kFixed;
  /// Done after every request.
  SyncMode sync = SyncMode::kNone;
  /// Pause before every request.
  double think_s = 0.0;
  /// Requests move through so much memory, each behind the one before; 0: all the same memory.
  std::int64_t memory_bytes = 0;
  /// Share of the reads that get memory without pages, so that they meet page faults.
  double fresh = 0.0;
  std::optional<Halo> halo = {};
  /// Of n requests, floor(n * seeks + 0.5) times the file's position is moved before one.
  double seeks = 0.0;
  /// As many times, by this number, what lies behind the file's end is read before one.
  double empty_reads = 0.0;
  /// Requests in flight.
  std::int64_t depth = 1;
  /// All sharers of the file make each call together.
  bool collective = false;
  /// What each request of a `write` writes; absent: made-up bytes.
  std::optional<LiteralContent> literal = {};
  /// Stamped data that are read are checked; false leaves that out of the time of a read.
  bool verify = true;
};

/// One operation on the name of a file, or on every directory of its tree.
struct Manage {
  NameVerb verb = {};
  std::int64_t file = 0;
  Expression owner;
  /// The file whose name a renamed one, or a copy, gets; what the run made under it is gone.
  std::optional<std::int64_t> to = {};
  /// What a truncation leaves of an open file.
  std::optional<Expression> bytes = {};
  /// How a copy is tried at first.
  std::optional<CopyWay> way = {};
};

/// The verbs, in order, on each item of a tree, item by item.
struct Items {
  std::int64_t file = 0;
  Expression owner;
  std::vector<ItemVerb> verbs;
  bool shuffled = false;
  /// Where the window begins in the owner's items, directory by directory; default 0.
  std::optional<Expression> first = {};
  /// Items in the window; default: all from `first` on.
  std::optional<Expression> count = {};
  /// Of the owner's items: the first one; as the phase begins, the oldest that was not removed;
  /// or the place behind the newest.
  CountedFrom counted_from = CountedFrom::kStart;
  /// What writes and reads move of each item, from its beginning; default: all of it.
  std::optional<Expression> bytes = {};
  /// After each item, a pause of that many times what its operations took.
  double wait_factor = 0.0;
  /// Computing before each of the verbs; empty: none.
  std::vector<double> thinks_s;
  /// Size of extended attributes.
  std::int64_t attribute_bytes = 16;
  /// The tree whose items `copy` copies.
  std::optional<std::int64_t> source = {};
  /// How a copy is tried at first.
  std::optional<CopyWay> way = {};
};

/// All ranks walk over what lies below a directory and count the names that fit.
struct Find {
  /// Below the run's directory; none: all of that.
  std::vector<PathPart> top;
  /// `top` is absolute and somebody else's: it is only looked at.
  bool foreign = false;
  /// A pattern of the shell for the last part of a name; empty: any.
  std::string name = {};
  /// Exactly this size.
  std::optional<Expression> bytes = {};
  /// Changed (ctime) after this file of the plan was changed.
  std::optional<std::int64_t> newer = {};
};

/// The first rank has a command run by whoever started the engine; all wait for its end.
struct Exec {
  /// Which of the workload's commands it is.
  std::int64_t number = 0;
  /// For the shell.
  std::vector<PathPart> command;
  double limit_s = 0.0;
};

/// Measure the machine itself: all ranks of the group run a kernel together.
struct Kernel {
  std::string name = {};
  std::vector<Option> options;
};

/// Make what was written to an open file persistent.
struct Sync {
  std::int64_t file = 0;
  SyncMode mode = {};
  /// Of the entry's open files only the one that its path names here; else all.
  bool is_named = false;
};

/// One of these, by `kind`.
struct Step {
  std::variant<For, Choose, When, Phase, Repeat, Barrier, Signal, Wait, Compute, Transfer, Manage,
               Items, Find, Exec, Kernel, Sync> value;
};

/// Ranks that act together, beside those of other groups.
///
/// Instance k has the ranks from `first` + k * `ranks` on, and all instances run the program.
struct Group {
  std::string name = {};
  std::int64_t first = 0;
  /// Of one instance.
  std::int64_t ranks = 0;
  std::int64_t instances = 1;
  std::vector<Step> program;
};

/// All that one run of the engine does.
struct Plan {
  /// The run's id.
  std::string run = {};
  std::string name = {};
  std::int64_t seed = 0;
  /// The engine refuses to start on another number.
  std::int64_t ranks = 0;
  std::int64_t repetitions = 0;
  ClockKind clock = ClockKind::kReal;
  /// The run's own directory; the engine makes it and nothing outside it is written.
  std::string directory = {};
  /// An existing directory for the manifest and the stop file.
  std::string journal = {};
  /// The type of file system that the directory must lie on; empty: any.
  std::string expect_fstype = {};
  /// A rank that completes nothing for this long is reported; 0: never.
  double stall_s = 10.0;
  /// The run is ended when it takes longer, even if a rank cannot be stopped.
  std::optional<double> deadline_s = {};
  /// Every operation is written to `operations.<rank>` in the journal.
  bool log_operations = false;
  /// Names of the variables: those of `Slot`, then one for each loop.
  std::vector<std::string> slots;
  std::vector<File> files;
  std::vector<Group> groups;
};

/// Reads one plan from JSON text. Throws `base::Error` with the path of the fault as `where`,
/// such as `groups[0].program[1].file`; empty means the document as a whole.
[[nodiscard]] Plan decode_plan(std::string_view text);

/// Writes one plan as one line of JSON, every field written, without the line's end.
/// Throws `std::domain_error` if a number is not finite.
[[nodiscard]] std::string encode_plan(const Plan& value);

}  // namespace venturi::schema

// What an interface is and can do, said once beside its backend and wherever it is built.
// `venturi-engine describe` prints it, and `make gen` carries it to Python.
#pragma once

#include <limits>
#include <vector>

namespace venturi::backend {

/// One setting of a backend, declared beside it and nowhere else.
struct OptionInfo {
  const char* name;
  /// `boolean`, `real`, `integer`, `bytes` (a whole number of them, with a unit or without), `word`
  /// (one of a closed set) or `text` (which the backend reads when it is made).
  const char* type;
  const char* default_value;
  const char* about;
  /// Allowed values in words; of a `word`, all of them, separated by `|`.
  const char* range;
  /// Bounds of a number.
  double least = 0.0;
  double most = std::numeric_limits<double>::max();
};

/// Words in which a backend says what it can do; what a plan asks for beyond them is refused.
inline constexpr const char* kSharedFiles = "shared files";
inline constexpr const char* kRandomAccess = "random access";
inline constexpr const char* kNames = "names";
inline constexpr const char* kSync = "sync";
/// Several requests in flight: `begin` and `reap`.
inline constexpr const char* kDepth = "requests in flight";
/// Calls that all sharers make together: `submit_together`.
inline constexpr const char* kCollective = "collective calls";
/// Hints of MPI-IO.
inline constexpr const char* kHints = "hints";
/// Files that are made with stripes, where the file system has them.
inline constexpr const char* kStripes = "stripes";
/// Boxes of n-dimensional datasets instead of bytes at an offset.
inline constexpr const char* kDatasets = "datasets";
/// The end of a file is where the next write goes.
inline constexpr const char* kAppend = "append";
/// Reads and writes bytes of a file at an offset (others know only datasets).
inline constexpr const char* kBytes = "bytes";
/// Cuts or extends an open file.
inline constexpr const char* kTruncate = "truncate";
/// Copies a file without its bytes passing through the program.
inline constexpr const char* kCopy = "copy";
/// Seeks, and reads behind the end of a file.
inline constexpr const char* kSeek = "seeks and empty reads";
/// Time passes on the simulated clock only.
inline constexpr const char* kSimulatedClock = "simulated clock";

/// Where an interface stands in the I/O stack.
inline constexpr const char* kFileCalls = "file calls";
inline constexpr const char* kLibrary = "library";
inline constexpr const char* kNoStorage = "no storage";

/// How a request leaves the program.
inline constexpr const char* kByCall = "call";
inline constexpr const char* kByMapping = "mapping";
inline constexpr const char* kByRing = "ring";

/// What names are.
inline constexpr const char* kDirectoryTree = "directory tree";
inline constexpr const char* kFlatKeys = "flat keys";

/// How the run proves that it made a file.
inline constexpr const char* kInodeAndBirth = "device, inode, birth time";
inline constexpr const char* kMarkerKey = "etag, marker key";

/// What the place of a request means in the file.
inline constexpr const char* kOffsets = "offsets";     // its bytes are there, whoever looks
inline constexpr const char* kKeys = "keys";           // the key of what one write stored
inline constexpr const char* kOfFormat = "of format";  // where the file's format puts it

/// Which independent requests on parts of a dataset of a shared file a library moves piece by
/// piece.
inline constexpr const char* kSplitsNone = "none";
inline constexpr const char* kSplitsWrites = "writes";
inline constexpr const char* kSplitsAll = "all";

/// The calls behind the verbs, as they stand in the code of an application.
struct Calls {
  const char* write = "";
  const char* read = "";
  /// Both, as advice to an application names them.
  const char* both = "";
  /// Makes data persistent; empty: the call of the sync's own name.
  const char* sync = "";
  /// Hands buffered data to the system.
  const char* flush = "";
  const char* collective = "";
  const char* independent = "";
  /// How one call moves more in other languages.
  const char* larger = "";
};

/// What a file can hold, and when others can read it.
struct FormatLimits {
  /// Datasets of any shape; otherwise one row of bytes.
  bool shapes = true;
  bool chunks = true;
  /// With this value of an option there are chunks although `chunks` says no: `NAME=WORD`.
  const char* chunks_with = "";
  /// With this value of an option sizes are limited to 32 bits: `NAME=WORD`.
  const char* narrow_with = "";
  /// What to choose instead: `NAME=WORD`.
  const char* wide_with = "";
  /// Another group may read a file that its writer still has open.
  bool read_while_open = true;
  /// Data can be read after a sync or a close only.
  bool read_after_sync = false;
};

/// What other programs call the interface; empty where they do not have it.
struct OtherNames {
  const char* ior = "";
  const char* mdtest = "";
  /// Layers of a trace in which its calls are counted, the lowest first.
  std::vector<const char*> trace_layers = {};
};

/// What an interface is, needs and can do. Nothing here depends on its library.
struct Description {
  const char* level = kFileCalls;
  const char* data_path = kByCall;
  const char* name_space = kDirectoryTree;
  const char* ownership = kInodeAndBirth;
  const char* addressing = kOffsets;
  std::vector<const char*> capabilities = {};
  /// In builds with MPI only.
  std::vector<const char*> mpi_capabilities = {};
  std::vector<OptionInfo> options = {};
  std::vector<OptionInfo> mpi_options = {};
  /// Not without MPI.
  bool needs_mpi = false;
  /// Data wait in the process until its buffer is full, flushed or closed.
  bool buffers = false;
  /// One of the sharers of a file makes the calls of all of them, in every build.
  bool gathers = false;
  /// The interface by which a build with MPI reaches files that ranks share; empty: itself.
  const char* shared_through = "";
  const char* splits = kSplitsNone;
  /// Files that each writer makes beside its data.
  int files_per_writer = 0;
  /// The label of results without storage.
  const char* label = "";
  /// What a file with keys is called, and what one write stores in it.
  const char* container = "";
  const char* pieces = "";
  FormatLimits format = {};
  Calls calls = {};
  OtherNames elsewhere = {};
};

}  // namespace venturi::backend

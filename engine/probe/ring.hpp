// The ring of a probe's worker: a mapped file on local disk with settings, state and samples. The
// file is the whole interface between the worker and whoever reads; docs/probe.md describes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/beneath.hpp"
#include "base/descriptor.hpp"

namespace venturi::probe {

/// What is measured; the numbers stand in files.
enum class Operation : std::uint8_t { kStat, kRead, kDelete, kCreate, kDataWrite, kDataRead };

/// What a worker measures.
enum class Kind : std::uint32_t { kMetadata, kData };

/// What makes written data persistent within the timed operation.
enum class Durability : std::uint32_t { kAuto, kDirect, kFdatasync, kBuffered };

enum class State : std::uint32_t { kNew, kPreparing, kRunning, kStopped, kStoppedHung };

/// What a sample says beside its times.
enum Flag : std::uint8_t {
  kFailed = 1,         // `error` says how
  kMissed = 2,         // its moment passed while another operation hung: no operation was made
  kAbandoned = 4,      // the worker ended first: the response is at least this long
  kCached = 8,         // some of the data was in this host's page cache
  kCacheUnknown = 16,  // this kernel cannot say that
  kWithheld = 32,      // no operation was made, and none was due: the pool keeps its size
  kBackedOff = 64,     // at a tenth of the rate, because the storage was sick
  kCorrupt = 128,      // other bytes than those that were written
};

/// One moment of the grid. The sequence is the sample's number since the ring was made.
struct Sample {
  /// When it was due: since 1970, UTC, by this host's clock.
  std::int64_t scheduled_ns = 0;
  /// From when it was due to its end.
  std::int64_t response_ns = 0;
  /// From its real start to its end; 0 where nothing was done.
  std::int64_t service_ns = 0;
  std::uint32_t sequence = 0;
  std::uint8_t operation = 0;
  std::uint8_t flags = 0;
  std::int16_t error = 0;
};
static_assert(sizeof(Sample) == 32);

/// Identity of something on the probed storage.
struct StorageIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t birth_ns = 0;
  std::uint64_t mark = 0;
};

/// The operation under way, by CLOCK_MONOTONIC and the wall clock; `operation` is one more than its
/// number, 0: none.
struct InFlight {
  std::uint64_t operation = 0;
  std::uint64_t scheduled_monotonic_ns = 0;
  std::uint64_t scheduled_ns = 0;
};

inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::array<char, 8> kMagic{'V', 'N', 'T', 'P', 'R', 'O', 'B', '1'};

/// The first page of a ring. Settings are written once by whoever makes the file, the rest by the
/// worker alone.
struct Header {
  std::array<char, 8> magic{};
  std::uint32_t header_bytes = 0;
  std::uint32_t sample_bytes = 0;
  std::uint64_t capacity = 0;
  Kind kind = Kind::kMetadata;
  Durability durability = Durability::kAuto;
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  std::uint64_t interval_ns = 0;
  /// Where within the interval the grid stands, so that many hosts do not act at once.
  std::uint64_t offset_ns = 0;
  std::uint64_t pool_files = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t made_ns = 0;
  std::uint64_t backs_off = 0;
  std::array<char, 2048> directory{};

  // What the worker writes.
  State state = State::kNew;
  Durability durability_in_use = Durability::kAuto;
  std::uint64_t pid = 0;
  std::uint64_t starts = 0;
  StorageIdentity root{};
  StorageIdentity data{};
  /// Samples that were ever written.
  std::uint64_t head = 0;
  std::uint64_t done = 0;
  std::uint64_t flagged = 0;
  std::uint64_t errors = 0;
  /// The pool is the files from `oldest` to `newest`, the latter excluded.
  std::uint64_t oldest = 0;
  std::uint64_t newest = 0;
  /// How many blocks were drawn at random.
  std::uint64_t draws = 0;
  /// Files or blocks that are prepared.
  std::uint64_t prepared = 0;
  InFlight in_flight{};
  std::uint64_t alive_monotonic_ns = 0;
  std::uint64_t alive_ns = 0;
  /// Between two moments of the grid, now.
  std::uint64_t step_ns = 0;
  std::uint64_t clock_steps = 0;
  std::uint64_t preparation_error = 0;
  /// Files in the pool's place that this probe did not write; they stay.
  std::uint64_t foreign = 0;
  /// The number of the ring's first sample, written by whoever made it; earlier ones are in files.
  std::uint64_t first = 0;
};
static_assert(sizeof(Header) <= kHeaderBytes);
static_assert(offsetof(Header, directory) == 112);
static_assert(offsetof(Header, state) == 2160);
static_assert(offsetof(Header, head) == 2248);
static_assert(offsetof(Header, first) == 2384);

/// A ring that is mapped and locked by this process.
class Ring {
 public:
  /// Throws base::Error: no ring, another form (exit 2), or another process has it (exit 5).
  explicit Ring(const std::string& path);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  [[nodiscard]] Header& header() noexcept { return *header_; }
  [[nodiscard]] const Header& header() const noexcept { return *header_; }
  [[nodiscard]] std::string directory() const { return header_->directory.data(); }
  /// The name of the probe's own directory on the storage; nobody else knows the key.
  [[nodiscard]] std::string root_name() const;
  /// 32 hexadecimal digits.
  [[nodiscard]] std::string key_text() const;

  /// Writes the next sample, whose sequence is filled in, and counts it.
  void append(Sample sample) noexcept;
  /// Says what is under way; 0 as operation ends that.
  void set_in_flight(const InFlight& now) noexcept;
  /// What is under way, as another thread sees it.
  [[nodiscard]] bool is_in_flight() const noexcept;
  /// Notes that the worker lives.
  void touch(std::uint64_t monotonic_ns, std::uint64_t wall_ns) noexcept;
  /// What was written is on the disk.
  void flush() noexcept;

 private:
  void check(const std::string& path, std::uint64_t bytes) const;
  /// After a crash of the node: the head goes back to the last whole sample.
  void rewind() noexcept;

  base::Descriptor file_;
  Header* header_ = nullptr;
  Sample* samples_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t flushed_ = 0;
};

}  // namespace venturi::probe

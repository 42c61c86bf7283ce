// Events become lines on stdout, whole and at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "schema/event.hpp"

namespace venturi::app {

/// Where the events of one rank go. Only the first of all ranks writes to stdout, because lines of
/// several ranks tear each other; the first ranks of other groups write into the journal.
class EventOutput {
 public:
  EventOutput(const std::string& journal, std::size_t rank);

  /// Writes one event as one line. Throws base::Broken when nobody reads stdout any more, or when
  /// the journal cannot be written.
  void operator()(const schema::Event& event);

 private:
  /// What a reader of stdout can be given at once; a longer line goes into the journal.
  static constexpr std::size_t kMostLineBytes = 262'144;

  /// The file of this rank in the journal.
  std::string path_;
  bool has_stdout_;
};

/// Standard output for a process that must not wait for its reader: what does not go out at once is
/// kept, and what cannot be kept, or is still there at the end, goes into the journal, as
/// `events.0.jsonl`.
class PatientOutput {
 public:
  void set_journal(const std::string& journal) { journal_ = journal; }
  /// Whole lines. False if nobody reads them any more, and none can be kept.
  bool write(std::string_view text);
  /// Waits a little for the reader, then leaves the rest in the journal.
  bool finish();

 private:
  static constexpr std::size_t kMostPendingBytes = 1'048'576;
  static constexpr std::uint64_t kPatienceNs = 2'000'000'000;

  bool push();
  bool spill();

  std::string journal_;
  /// From the beginning of the first line that has not gone out whole.
  std::string pending_;
  std::size_t done_bytes_ = 0;
  bool is_spilling_ = false;
};

/// The output of this process; a journal that is given is that of its run.
PatientOutput& output_of(const std::string& journal = "");

/// The `failed` event, and one clear line on stderr. Never throws.
void write_failure(const base::Problem& problem) noexcept;

/// Writes text to stdout; false if nobody reads it.
bool write_text(const std::string& text);

}  // namespace venturi::app

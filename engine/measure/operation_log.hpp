// Every single operation, where a plan asks for it: rows in a mapped file, no allocation for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "schema/event.hpp"

namespace venturi::measure {

/// One file per rank. A row costs a copy of 48 bytes; every 21845 rows the file grows by 1 MiB.
class OperationLog {
 public:
  /// Little-endian, one after the other; unused rows at the file's end are zero.
  struct Row {
    /// On this rank's clock.
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    /// Where in the file; 2^64 - 1 for what has no place.
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    /// The serial number of the innermost phase, from 1; 0 marks a row that is not used.
    std::uint32_t phase = 0;
    std::uint32_t repetition = 0;
    /// Index into the plan's files.
    std::uint32_t file = 0;
    std::uint32_t kind = 0;
  };
  static_assert(sizeof(Row) == 48);
  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

  /// Makes the file. Throws base::Error (exit 5).
  explicit OperationLog(const std::string& path);
  OperationLog(const OperationLog&) = delete;
  OperationLog& operator=(const OperationLog&) = delete;
  ~OperationLog();

  /// What the rows that follow belong to.
  void set_phase(std::uint64_t serial, std::uint64_t repetition) noexcept {
    next_.phase = static_cast<std::uint32_t>(serial);
    next_.repetition = static_cast<std::uint32_t>(repetition);
  }
  void set_file(std::uint64_t file) noexcept { next_.file = static_cast<std::uint32_t>(file); }
  /// Where the next row's operation is.
  void set_offset(std::uint64_t offset) noexcept { next_.offset = offset; }

  void add(schema::OperationKind kind, std::uint64_t begin_ns, std::uint64_t end_ns,
           std::uint64_t bytes) noexcept {
    if (row_ == end_ && !grow()) return;
    next_.kind = static_cast<std::uint32_t>(kind);
    next_.begin_ns = begin_ns;
    next_.end_ns = end_ns;
    next_.bytes = bytes;
    *row_++ = next_;
    next_.offset = kNoOffset;
  }
  /// Rows that found no room on the journal's file system.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

 private:
  static constexpr std::size_t kRowsAtOnce = (std::size_t{1} << 20U) / sizeof(Row);
  static constexpr std::size_t kWindowBytes = std::size_t{1} << 20U;

  bool grow() noexcept;

  base::Descriptor file_;
  void* window_ = nullptr;
  std::uint64_t mapped_bytes_ = 0;
  Row* row_ = nullptr;
  Row* end_ = nullptr;
  Row next_{.offset = kNoOffset};
  std::uint64_t lost_ = 0;
};

}  // namespace venturi::measure

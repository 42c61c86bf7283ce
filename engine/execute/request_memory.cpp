// Buffers that grow, filled with what requests are to write.
#include "execute/request_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.hpp"

namespace venturi::execute {
namespace {

/// Throws base::Error (exit 2) for requests that would make this machine swap.
void refuse_too_much(std::uint64_t bytes) {
  static const auto memory_pages =
      static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  if (bytes / 4096 <= memory_pages / 2) return;
  throw base::plan_error("size", fmt::format("a request of {} bytes (or all in flight together) is "
                                             "more than half of this machine's memory",
                                             bytes));
}

}  // namespace

std::byte* RequestMemory::reader(std::uint64_t bytes) {
  refuse_too_much(bytes);
  return read_buffer.reserve(bytes + 1);
}

std::byte* RequestMemory::writer(std::uint64_t bytes) {
  refuse_too_much(bytes);
  return made_.reserve(bytes + 1);
}

std::byte* RequestMemory::filler(const schema::File& file, std::uint64_t bytes) {
  return file.content.verify ? writer(bytes) : fill(filled_, file, bytes);
}

std::byte* RequestMemory::cells(const schema::File& file, std::uint64_t bytes) {
  return fill(cells_, file, bytes);
}

std::byte* RequestMemory::fill(ByContent& buffers, const schema::File& file, std::uint64_t bytes) {
  refuse_too_much(bytes);
  const schema::Content& content = file.content;
  Filled& buffer = buffers[{content.compressibility, content.duplicates.value_or(0.0)}];
  std::byte* data = buffer.memory.reserve(bytes + 1);
  if (buffer.bytes < bytes) {
    files_.stamp(file, view_.group.rank(), 0, 0).fill({data, bytes}, 0);
    payload::conceal({data, bytes});
    buffer.bytes = bytes;
  }
  return data;
}

}  // namespace venturi::execute

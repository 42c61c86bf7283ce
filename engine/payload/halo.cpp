// Packing and unpacking: the copies that an application makes around a call of its I/O library.
#include "payload/halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace venturi::payload {
namespace {

constexpr const char* kWhere = "halo";

/// Copies cells of a fixed size, which lie `from_step` and `to_step` bytes apart.
template <std::size_t kBytes>
void copy_cells(std::byte* to, std::uint64_t to_step, const std::byte* from,
                std::uint64_t from_step, std::uint64_t cells) {
  for (std::uint64_t i = 0; i < cells; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, kBytes);
  }
}

void copy(std::byte* to, std::uint64_t to_step, const std::byte* from, std::uint64_t from_step,
          std::uint64_t cells, std::uint64_t bytes) {
  if (to_step == from_step) {
    std::memcpy(to, from, cells * bytes);
  } else if (bytes == 8) {
    copy_cells<8>(to, to_step, from, from_step, cells);
  } else if (bytes == 4) {
    copy_cells<4>(to, to_step, from, from_step, cells);
  } else {
    for (std::uint64_t i = 0; i < cells; ++i) {
      std::memcpy(to + i * to_step, from + i * from_step, bytes);
    }
  }
}

}  // namespace

void check(const schema::Halo& halo, std::size_t slots, const std::string& where) {
  if (halo.guard.size() != halo.extent.size()) {
    throw base::plan_error(where + ".guard", "there is one number for each dimension");
  }
  for (std::size_t i = 0; i < halo.extent.size(); ++i) {
    pattern::validate(halo.extent[i], slots, fmt::format("{}.extent[{}]", where, i));
  }
}

HaloCursor::HaloCursor(const schema::Halo& halo, pattern::Evaluator& evaluator,
                       const pattern::Slots& slots)
    : element_bytes_(static_cast<std::uint64_t>(halo.element_bytes)),
      variables_(static_cast<std::uint64_t>(halo.variables)),
      dimensions_(halo.extent.size()) {
  std::int64_t stride = 0;
  bool fits = !__builtin_mul_overflow(halo.element_bytes, halo.variables, &stride);
  for (std::size_t i = dimensions_.size(); fits && i > 0; --i) {
    Dimension& dimension = dimensions_[i - 1];
    dimension.extent = evaluator.count(halo.extent[i - 1], slots, kWhere);
    dimension.stride_bytes = static_cast<std::uint64_t>(stride);
    std::int64_t whole = 0;
    fits = !__builtin_mul_overflow(halo.guard[i - 1], std::int64_t{2}, &whole) &&
           !__builtin_add_overflow(whole, static_cast<std::int64_t>(dimension.extent), &whole) &&
           !__builtin_mul_overflow(stride, whole, &stride);
    first_bytes_ += static_cast<std::uint64_t>(halo.guard[i - 1]) * dimension.stride_bytes;
  }
  if (!fits) throw base::plan_error(kWhere, "the array is too large");
  array_bytes_ = static_cast<std::uint64_t>(stride);
  row_bytes_ = first_bytes_;
}

void HaloCursor::next_row() noexcept {
  for (std::size_t i = dimensions_.size() - 1; i > 0; --i) {
    Dimension& outer = dimensions_[i - 1];
    row_bytes_ += outer.stride_bytes;
    if (++outer.index < outer.extent) return;
    row_bytes_ -= outer.extent * outer.stride_bytes;
    outer.index = 0;
  }
  variable_ = (variable_ + 1) % variables_;
}

template <class Move>
void HaloCursor::walk(std::uint64_t bytes, const Move& move) {
  Dimension& row = dimensions_.back();
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t cells = std::min(row.extent - row.index, (bytes - done) / element_bytes_);
    if (cells == 0) return;
    const std::uint64_t at = row_bytes_ + row.index * row.stride_bytes + variable_ * element_bytes_;
    move(at, done, cells);
    done += cells * element_bytes_;
    row.index += cells;
    if (row.index < row.extent) return;
    row.index = 0;
    next_row();
  }
}

void HaloCursor::pack(const std::byte* array, std::span<std::byte> out) {
  const std::uint64_t step = dimensions_.back().stride_bytes;
  walk(out.size(), [&](std::uint64_t at, std::uint64_t done, std::uint64_t cells) {
    copy(out.data() + done, element_bytes_, array + at, step, cells, element_bytes_);
  });
}

void HaloCursor::unpack(std::byte* array, std::span<const std::byte> in) {
  const std::uint64_t step = dimensions_.back().stride_bytes;
  walk(in.size(), [&](std::uint64_t at, std::uint64_t done, std::uint64_t cells) {
    copy(array + at, step, in.data() + done, element_bytes_, cells, element_bytes_);
  });
}

}  // namespace venturi::payload

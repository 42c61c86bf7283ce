// Where the elements of n-dimensional datasets lie, as if all were one row of bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pattern/piece.hpp"
#include "schema/plan.hpp"

namespace venturi::pattern {

/// Bytes of one element.
[[nodiscard]] std::uint64_t element_bytes(schema::ElementType type) noexcept;

/// One entry of a file's datasets. For error messages and stamps every element has an offset: the
/// datasets and their copies follow each other, each in row-major order. No format lays them out
/// quite so, but the numbers are unique and do not depend on the shape of a request.
class DatasetLayout {
 public:
  /// Throws base::Error (exit 2) if the index or the number of dimensions is wrong, or if the
  /// datasets have more than 2^63 - 1 bytes.
  DatasetLayout(const std::vector<schema::Dataset>& datasets, std::size_t index);

  [[nodiscard]] std::size_t dimensions() const noexcept { return dimensions_; }
  [[nodiscard]] std::uint64_t extent(std::size_t dimension) const noexcept {
    return shape_[dimension];
  }
  [[nodiscard]] std::uint64_t copies() const noexcept { return copies_; }
  /// Bytes between two neighbours along a dimension.
  [[nodiscard]] std::uint64_t stride_bytes(std::size_t dimension) const noexcept {
    return stride_bytes_[dimension];
  }
  [[nodiscard]] std::uint64_t copy_bytes() const noexcept { return copy_bytes_; }
  [[nodiscard]] std::uint64_t element_bytes() const noexcept { return element_bytes_; }
  /// The offset of a box's first element.
  [[nodiscard]] std::uint64_t offset_of(const Box& box) const noexcept;

  /// The outermost dimension of which a box's elements lie together: those below it belong to the
  /// box whole.
  [[nodiscard]] std::size_t run_dimension(const Box& box) const noexcept {
    std::size_t outer = dimensions_ - 1;
    while (outer > 0 && box.extent[outer] == shape_[outer]) --outer;
    return outer;
  }

  /// Calls `action(offset, at, bytes)` for each run of bytes of a box that lie together: `offset`
  /// as above, `at` in the request's memory.
  template <class Action>
  void for_each_run(const Box& box, const Action& action) const {
    const std::size_t outer = run_dimension(box);
    const std::uint64_t run = box.extent[outer] * stride_bytes_[outer];
    std::array<std::uint64_t, Box::kMostDimensions> index{};
    std::uint64_t offset = offset_of(box);
    for (std::uint64_t at = 0;; at += run) {
      action(offset, at, run);
      std::size_t dimension = outer;
      for (; dimension > 0; --dimension) {
        const std::size_t turn = dimension - 1;
        offset += stride_bytes_[turn];
        if (++index[turn] < box.extent[turn]) break;
        offset -= stride_bytes_[turn] * box.extent[turn];
        index[turn] = 0;
      }
      if (dimension == 0) return;
    }
  }

 private:
  std::size_t dimensions_ = 0;
  std::uint64_t copies_ = 1;
  std::uint64_t element_bytes_ = 1;
  std::uint64_t base_bytes_ = 0;
  std::uint64_t copy_bytes_ = 0;
  std::array<std::uint64_t, Box::kMostDimensions> shape_{};
  std::array<std::uint64_t, Box::kMostDimensions> stride_bytes_{};
};

}  // namespace venturi::pattern

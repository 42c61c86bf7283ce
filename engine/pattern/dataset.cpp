// Strides and offsets of datasets, with every overflow caught.
#include "pattern/dataset.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/error.hpp"

namespace venturi::pattern {
namespace {

std::uint64_t checked(std::uint64_t a, std::uint64_t b, bool multiplies) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t result = 0;
  const bool over =
      multiplies ? __builtin_mul_overflow(a, b, &result) : __builtin_add_overflow(a, b, &result);
  if (over || result > kMost) {
    throw base::plan_error("datasets", "the datasets have more than 2^63 - 1 bytes");
  }
  return result;
}

std::uint64_t bytes_of(const schema::Dataset& dataset) {
  std::uint64_t bytes = element_bytes(dataset.type);
  for (const std::int64_t extent : dataset.shape) {
    bytes = checked(bytes, static_cast<std::uint64_t>(extent), true);
  }
  return bytes;
}

}  // namespace

std::uint64_t element_bytes(schema::ElementType type) noexcept {
  switch (type) {
    case schema::ElementType::kF64:
    case schema::ElementType::kI64:
      return 8;
    case schema::ElementType::kF32:
    case schema::ElementType::kI32:
      return 4;
    case schema::ElementType::kI16:
      return 2;
    case schema::ElementType::kI8:
      break;
  }
  return 1;
}

DatasetLayout::DatasetLayout(const std::vector<schema::Dataset>& datasets, std::size_t index) {
  if (index >= datasets.size()) {
    throw base::plan_error("pattern.dataset", fmt::format("there is no dataset {}", index));
  }
  for (std::size_t i = 0; i < index; ++i) {
    const auto copies = static_cast<std::uint64_t>(datasets[i].copies);
    base_bytes_ = checked(base_bytes_, checked(bytes_of(datasets[i]), copies, true), false);
  }
  const schema::Dataset& dataset = datasets[index];
  dimensions_ = dataset.shape.size();
  if (dimensions_ > Box::kMostDimensions) {
    throw base::plan_error("datasets.shape", fmt::format("more than {} dimensions in {}",
                                                         Box::kMostDimensions, dataset.name));
  }
  copies_ = static_cast<std::uint64_t>(dataset.copies);
  element_bytes_ = pattern::element_bytes(dataset.type);
  copy_bytes_ = bytes_of(dataset);
  checked(base_bytes_, checked(copy_bytes_, copies_, true), false);
  std::uint64_t stride = element_bytes_;
  for (std::size_t dimension = dimensions_; dimension > 0; --dimension) {
    shape_[dimension - 1] = static_cast<std::uint64_t>(dataset.shape[dimension - 1]);
    stride_bytes_[dimension - 1] = stride;
    stride *= shape_[dimension - 1];
  }
}

std::uint64_t DatasetLayout::offset_of(const Box& box) const noexcept {
  std::uint64_t offset = base_bytes_ + box.copy * copy_bytes_;
  for (std::size_t dimension = 0; dimension < dimensions_; ++dimension) {
    offset += box.start[dimension] * stride_bytes_[dimension];
  }
  return offset;
}

}  // namespace venturi::pattern

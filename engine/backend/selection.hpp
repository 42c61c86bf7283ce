// What interfaces that know datasets have in common: names, and boxes for plain bytes.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "backend/backend.hpp"
#include "schema/plan.hpp"

namespace venturi::backend {

/// The name of one of the equal datasets.
[[nodiscard]] inline std::string dataset_name(const schema::Dataset& dataset, std::uint64_t copy) {
  return dataset.copies == 1 ? dataset.name : fmt::format("{}_{:04}", dataset.name, copy);
}

/// The box of a request; bytes at an offset are elements of the file's only dataset, which has one
/// dimension of 1-byte elements.
[[nodiscard]] inline pattern::Box box_of(const Request& request) noexcept {
  if (request.box != nullptr) return *request.box;
  pattern::Box box;
  box.dimensions = 1;
  box.start[0] = request.offset;
  box.extent[0] = request.bytes;
  return box;
}

/// Whether those who share a file open and close it together: not where each has its own.
[[nodiscard]] inline bool opens_together(const schema::File& file) noexcept {
  return file.sharing != schema::Sharing::kRank && !file.tree;
}

/// Whether plain bytes can be put into the datasets of a file.
[[nodiscard]] inline bool takes_bytes(const schema::File& file) noexcept {
  return file.datasets.size() == 1 && file.datasets.front().copies == 1 &&
         file.datasets.front().shape.size() == 1 &&
         file.datasets.front().type == schema::ElementType::kI8;
}

}  // namespace venturi::backend

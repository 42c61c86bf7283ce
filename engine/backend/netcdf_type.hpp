// Numbers of element types in netCDF's formats, which are those of all its libraries.
#pragma once

#include "schema/plan.hpp"

namespace venturi::backend {

/// The number of an element's type, as a library's `nc_type`.
[[nodiscard]] constexpr int netcdf_type(schema::ElementType type) noexcept {
  switch (type) {
    case schema::ElementType::kF64:
      return 6;
    case schema::ElementType::kF32:
      return 5;
    case schema::ElementType::kI64:
      return 10;
    case schema::ElementType::kI32:
      return 4;
    case schema::ElementType::kI16:
      return 3;
    case schema::ElementType::kI8:
      break;
  }
  return 1;
}

}  // namespace venturi::backend

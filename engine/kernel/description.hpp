// What a kernel measures, said once beside it and wherever it is built. `venturi-engine describe`
// prints it, and `make gen` carries it to Python.
#pragma once

#include <vector>

#include "backend/description.hpp"

namespace venturi::kernel {

/// A number by which a kernel is known: a metric of each run of it.
struct Figure {
  const char* name;
  const char* unit;
  const char* about;
};

/// What a kernel is and needs. Nothing here depends on a library.
struct Description {
  /// One sentence: what it measures.
  const char* about;
  /// The benchmark of which class it is; it is none of that name, whose rules say more.
  const char* likeness;
  /// A change that may change its numbers gives it another one.
  int version = 1;
  bool needs_mpi = false;
  /// It has nothing to measure on fewer.
  int least_ranks = 1;
  std::vector<Figure> figures = {};
  std::vector<backend::OptionInfo> options = {};
};

}  // namespace venturi::kernel

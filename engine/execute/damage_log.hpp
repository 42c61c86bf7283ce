// Every piece of data that was read back wrong, one line each, beside the few that events name.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

#include "measure/meter.hpp"

namespace venturi::execute {

/// `damage.<rank>` in the journal: phase, repetition, path, offset, bytes and kind of damage, with
/// tabs between them. Made at the first line. Where the journal cannot be reached, nothing is
/// written: the counts do not depend on it.
class DamageLog {
 public:
  DamageLog(const std::string& journal, std::size_t rank)
      : path_(journal + "/damage." + std::to_string(rank)) {}

  void add(const std::string& phase, std::uint64_t repetition, const measure::Fault& fault) {
    if (lines_ == kMostLines) return;
    if (lines_++ == 0) file_.open(path_, std::ios::app);
    file_ << phase << '\t' << repetition << '\t' << fault.path << '\t' << fault.offset << '\t'
          << fault.bytes << '\t' << to_string(*fault.damage) << '\n';
  }
  /// Before others read it.
  void flush() { file_.flush(); }

 private:
  static constexpr std::size_t kMostLines = 1'000'000;

  std::string path_;
  std::ofstream file_;
  std::size_t lines_ = 0;
};

}  // namespace venturi::execute

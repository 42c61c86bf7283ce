// What a process that watches has to say.
#pragma once

#include <string>

namespace venturi::comm {

/// One line for people.
struct Notice {
  std::string text;
  /// Whoever reads the result must know it; otherwise it only says what goes on.
  bool is_warning = true;
};

}  // namespace venturi::comm

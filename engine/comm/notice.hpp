// What a process that watches has to say.
#pragma once

#include <string>

namespace venturi::comm {

/// One line for people.
struct Notice {
  std::string text;
  /// Whoever reads the result must know it; otherwise it only says what goes on.
  bool is_warning = true;
  /// For so long nobody ran on the node, not even whoever watches; 0: not known of.
  double stopped_s = 0.0;
};

/// The event of a notice that is a warning.
template <class Warning>
[[nodiscard]] Warning warning_of(const Notice& notice) {
  Warning event{.what = notice.text};
  if (notice.stopped_s > 0.0) event.stopped_s = notice.stopped_s;
  return event;
}

}  // namespace venturi::comm

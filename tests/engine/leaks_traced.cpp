// Leaks are found by tracing the process, which cannot be done while strace does: not then.
#include <fstream>
#include <string>

extern "C" int __lsan_is_turned_off() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int tracer = 0;
    if (word == "TracerPid:" && status >> tracer) return tracer != 0 ? 1 : 0;
  }
  return 0;
}

// The limit that the engine is compared with: pwrite and pread in a loop, and nothing else.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t kBlockBytes = 4096;

template <class Call>
double seconds_of(long count, const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < count; ++i) {
    if (call(static_cast<off_t>(i) * static_cast<off_t>(kBlockBytes)) != kBlockBytes) std::abort();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long count = std::atol(argv[2]);
  const int file = open(argv[1], O_CREAT | O_EXCL | O_RDWR, 0644);
  if (file < 0) return 1;
  std::vector<char> buffer(kBlockBytes, 'x');
  const auto put = [&](off_t at) { return pwrite(file, buffer.data(), kBlockBytes, at); };
  const auto get = [&](off_t at) { return pread(file, buffer.data(), kBlockBytes, at); };
  seconds_of(count, put);  // the engine's `prepare` phase
  const double write_s = seconds_of(count, put);
  const double read_s = seconds_of(count, get);
  std::printf("{\"write\": %.9f, \"read\": %.9f}\n", write_s, read_s);
  close(file);
  return 0;
}

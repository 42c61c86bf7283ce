// The limit that the engine is compared with: pwrite and pread in a loop, and nothing else.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

namespace {

constexpr int kMostRanks = 64;
constexpr int kMostPasses = 1024;
constexpr std::size_t kPageBytes = 4096;

/// What the forked ranks share.
struct Shared {
  std::atomic<int> arrived;
  double begin_s[kMostPasses][kMostRanks];
  double end_s[kMostPasses][kMostRanks];
};

struct Job {
  std::string path;
  long count;
  std::size_t block_bytes;
  int ranks;
  /// Of writes and of reads, each.
  int passes;
};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One pass over the file; all ranks begin together.
template <class Call>
void pass(Shared& shared, const Job& job, int number, int rank, const Call& call) {
  shared.arrived.fetch_add(1);
  while (shared.arrived.load() < (number + 1) * job.ranks) sched_yield();
  shared.begin_s[number][rank] = now_s();
  for (long i = 0; i < job.count; ++i) {
    const auto at = static_cast<off_t>(i) * static_cast<off_t>(job.block_bytes);
    if (call(at) != static_cast<ssize_t>(job.block_bytes)) std::abort();
  }
  shared.end_s[number][rank] = now_s();
}

/// Every rank has its own file, as the engine's have.
void work(Shared& shared, const Job& job, int rank) {
  const std::string name = job.path + "." + std::to_string(rank);
  const int file = open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0644);
  if (file < 0) std::abort();
  void* buffer = std::aligned_alloc(kPageBytes, (job.block_bytes / kPageBytes + 1) * kPageBytes);
  std::fill_n(static_cast<char*>(buffer), job.block_bytes, 'x');
  const auto put = [&](off_t at) { return pwrite(file, buffer, job.block_bytes, at); };
  const auto get = [&](off_t at) { return pread(file, buffer, job.block_bytes, at); };
  pass(shared, job, 0, rank, put);  // the engine's `prepare` phase
  for (int i = 0; i < job.passes; ++i) {
    pass(shared, job, 1 + 2 * i, rank, put);
    pass(shared, job, 2 + 2 * i, rank, get);
  }
  close(file);
  unlink(name.c_str());
}

/// The fastest of every second pass from `first` on: what the machine did meanwhile is left out.
double fastest_s(const Shared& shared, const Job& job, int first) {
  double best = std::numeric_limits<double>::max();
  for (int number = first; number <= 2 * job.passes; number += 2) {
    const double* end = shared.end_s[number];
    const double* begin = shared.begin_s[number];
    best = std::min(best, *std::max_element(end, end + job.ranks) -
                              *std::min_element(begin, begin + job.ranks));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Job job{argv[1], std::atol(argv[2]), std::strtoul(argv[3], nullptr, 10), std::atoi(argv[4]),
                std::atoi(argv[5])};
  if (job.ranks < 1 || job.ranks > kMostRanks || 2 * job.passes >= kMostPasses) return 2;
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto& shared = *new (memory) Shared{};
  for (int rank = 1; rank < job.ranks; ++rank) {
    if (fork() == 0) {
      work(shared, job, rank);
      _exit(0);
    }
  }
  work(shared, job, 0);
  while (wait(nullptr) > 0) {
  }
  std::printf("{\"write\": %.9f, \"read\": %.9f}\n", fastest_s(shared, job, 1),
              fastest_s(shared, job, 2));
  return 0;
}

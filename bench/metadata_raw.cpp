// The limit that operations on names are compared with: the same calls in a loop, nothing else.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

/// Names like the engine's, rewritten in place.
class Name {
 public:
  const char* operator()(long i) {
    *std::to_chars(text_ + 4, text_ + sizeof text_ - 1, i).ptr = '\0';
    return text_;
  }

 private:
  char text_[32] = "f.0.";
};

/// The calls on files of one size, relative to an open directory.
class Calls {
 public:
  explicit Calls(std::size_t bytes) : bytes_(bytes), data_(bytes + 1, 'x') {}

  bool create(int at, const char* name) {
    constexpr int kFlags = O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC;
    const int file = openat(at, name, kFlags, 0644);
    return file >= 0 && moved(pwrite(file, data_.data(), bytes_, 0)) && close(file) == 0;
  }
  bool create_empty(int at, const char* name) {
    constexpr int kFlags = O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC;
    const int file = openat(at, name, kFlags, 0644);
    return file >= 0 && close(file) == 0;
  }
  bool read(int at, const char* name) {
    const int file = openat(at, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    return file >= 0 && moved(pread(file, data_.data(), bytes_, 0)) && close(file) == 0;
  }
  bool open_only(int at, const char* name) {
    const int file = openat(at, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    return file >= 0 && close(file) == 0;
  }
  static bool look(int at, const char* name) {
    struct stat status{};
    return fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  }

 private:
  [[nodiscard]] bool moved(ssize_t bytes) const { return bytes == static_cast<ssize_t>(bytes_); }

  std::size_t bytes_;
  std::vector<char> data_;
};

template <class Work>
double seconds_of(long count, const Work& work) {
  Name name;
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < count; ++i) {
    if (!work(i, name(i))) std::abort();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// One round of the phases; the files are gone at its end.
void phases(int at, long count, std::size_t bytes) {
  Calls calls(bytes);
  const double create = seconds_of(count, [&](long, const char* name) {
    return bytes > 0 ? calls.create(at, name) : calls.create_empty(at, name);
  });
  const double stat =
      seconds_of(count, [&](long, const char* name) { return Calls::look(at, name); });
  const double read = seconds_of(count, [&](long, const char* name) {
    return bytes > 0 ? calls.read(at, name) : calls.open_only(at, name);
  });
  const double remove =
      seconds_of(count, [&](long, const char* name) { return unlinkat(at, name, 0) == 0; });
  std::printf("{\"create\": %.9f, \"stat\": %.9f, \"read\": %.9f, \"remove\": %.9f}\n", create,
              stat, read, remove);
}

/// One round of md-workbench's objects: one is looked at, read and removed, another one is made.
void objects(int at, long count, std::size_t bytes, long ahead) {
  Calls calls(bytes);
  Name other;
  seconds_of(ahead, [&](long, const char* name) { return calls.create(at, name); });
  const double took = seconds_of(count, [&](long i, const char* name) {
    return Calls::look(at, name) && calls.read(at, name) && unlinkat(at, name, 0) == 0 &&
           calls.create(at, other(i + ahead));
  });
  for (long i = count; i < count + ahead; ++i) unlinkat(at, other(i), 0);
  std::printf("{\"objects\": %.9f}\n", took);
}

}  // namespace

/// Usage: metadata_raw DIRECTORY COUNT BYTES ROUNDS AHEAD; with AHEAD > 0, objects.
int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const long count = std::atol(argv[2]);
  const auto bytes = static_cast<std::size_t>(std::atol(argv[3]));
  const long ahead = std::atol(argv[5]);
  const int at = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) return 1;
  for (long round = std::atol(argv[4]); round > 0; --round) {
    if (ahead > 0) {
      objects(at, count, bytes, ahead);
    } else {
      phases(at, count, bytes);
    }
  }
  return 0;
}

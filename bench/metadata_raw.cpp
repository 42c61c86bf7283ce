// The limit that operations on names are compared with: the same calls in a loop, nothing else.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
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

/// The verbs of a phase, on all files in turn.
class Verbs {
 public:
  Verbs(int at, long count, std::size_t bytes)
      : at_(at), count_(count), bytes_(bytes), calls_(bytes) {}

  double create() {
    return seconds_of(count_, [&](long, const char* name) {
      return bytes_ > 0 ? calls_.create(at_, name) : calls_.create_empty(at_, name);
    });
  }
  double stat() {
    return seconds_of(count_, [&](long, const char* name) { return Calls::look(at_, name); });
  }
  double read() {
    return seconds_of(count_, [&](long, const char* name) {
      return bytes_ > 0 ? calls_.read(at_, name) : calls_.open_only(at_, name);
    });
  }
  double remove() {
    return seconds_of(count_, [&](long, const char* name) { return unlinkat(at_, name, 0) == 0; });
  }

 private:
  int at_;
  long count_;
  std::size_t bytes_;
  Calls calls_;
};

/// One round of phases of one pass each; the files are gone at its end.
void single(Verbs verbs) {
  const double create = verbs.create();
  const double stat = verbs.stat();
  const double read = verbs.read();
  const double remove = verbs.remove();
  std::printf("{\"create\": %.9f, \"stat\": %.9f, \"read\": %.9f, \"remove\": %.9f}\n", create,
              stat, read, remove);
}

/// One round of phases of many passes each; the files are gone at its end.
void repeated(Verbs verbs, long passes) {
  verbs.create();
  double stat = 0;
  for (long pass = 0; pass < passes; ++pass) stat += verbs.stat();
  double read = 0;
  for (long pass = 0; pass < passes; ++pass) read += verbs.read();
  double renew = 0;
  for (long pass = 0; pass < passes; ++pass) renew += verbs.remove() + verbs.create();
  verbs.remove();
  std::printf("{\"stat\": %.9f, \"read\": %.9f, \"renew\": %.9f}\n", stat, read, renew);
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

/// Usage: metadata_raw WHAT DIRECTORY COUNT BYTES ROUNDS NUMBER, where WHAT is `single`, `repeated`
/// (NUMBER: passes) or `objects` (NUMBER: how many are ahead).
int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const std::string_view what = argv[1];
  const long count = std::atol(argv[3]);
  const auto bytes = static_cast<std::size_t>(std::atol(argv[4]));
  const long number = std::atol(argv[6]);
  const int at = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) return 1;
  for (long round = std::atol(argv[5]); round > 0; --round) {
    if (what == "objects") {
      objects(at, count, bytes, number);
    } else if (what == "repeated") {
      repeated(Verbs(at, count, bytes), number);
    } else {
      single(Verbs(at, count, bytes));
    }
  }
  return 0;
}

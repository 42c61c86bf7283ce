// Writing, growing and reading manifests.
#include "execute/manifest.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "base/random.hpp"

namespace venturi::execute {
namespace {

constexpr std::array<std::string_view, 9> kWords{"root",        "marker", "file",
                                                 "directory",   "tree",   "staged_file",
                                                 "staged_tree", "kept",   "kept_tree"};
constexpr std::size_t kFirstBytes = 65'536;
constexpr std::size_t kMostGrowthBytes = 1'048'576;

std::optional<std::string_view> next_word(std::string_view& line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space + 1);
  return word;
}

bool parse_number(std::optional<std::string_view> word, std::uint64_t& out) {
  if (!word) return false;
  const char* end = word->data() + word->size();
  const auto [stop, error] = std::from_chars(word->data(), end, out);
  return error == std::errc{} && stop == end;
}

std::optional<Entry> parse_line(std::string_view line) {
  Entry entry;
  const auto kind = next_word(line);
  if (!kind) return std::nullopt;
  const auto* word = std::find(kWords.begin(), kWords.end(), *kind);
  if (word == kWords.end()) return std::nullopt;
  entry.kind = static_cast<EntryKind>(word - kWords.begin());
  if (!parse_number(next_word(line), entry.device)) return std::nullopt;
  if (!parse_number(next_word(line), entry.inode)) return std::nullopt;
  std::string_view rest = line;
  if (parse_number(next_word(rest), entry.birth_ns)) {
    line = rest;
  } else {
    entry.birth_ns = 0;
  }
  entry.path = line;
  return entry;
}

std::vector<std::string> manifest_files(const std::string& journal, const std::string& directory) {
  std::vector<std::string> files;
  const std::array<std::pair<std::string, std::string_view>, 2> places{
      {{journal, "manifest."}, {directory, ".manifest."}}};
  for (const auto& [place, prefix] : places) {
    std::error_code error;
    for (const auto& item : std::filesystem::directory_iterator(place, error)) {
      if (item.path().filename().string().starts_with(prefix)) files.push_back(item.path());
    }
  }
  return files;
}

}  // namespace

std::vector<Entry> parse_manifest(std::string_view text) {
  std::vector<Entry> entries;
  text = text.substr(0, text.find('\0'));
  while (true) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return entries;
    if (auto entry = parse_line(text.substr(0, end))) entries.push_back(std::move(*entry));
    text.remove_prefix(end + 1);
  }
}

std::vector<Entry> read_manifests(const std::string& journal, const std::string& directory) {
  std::vector<Entry> entries;
  for (const std::string& name : manifest_files(journal, directory)) {
    std::ifstream file(name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::vector<Entry> some = parse_manifest(text);
    entries.insert(entries.end(), std::make_move_iterator(some.begin()),
                   std::make_move_iterator(some.end()));
  }
  return entries;
}

bool manifests_in_use(const std::string& journal, const std::string& directory) {
  for (const std::string& name : manifest_files(journal, directory)) {
    const base::Descriptor file(::open(name.c_str(), O_RDWR | O_CLOEXEC));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return true;
  }
  return false;
}

Manifest::Manifest(const std::string& journal, const std::string& directory, std::size_t rank)
    : journal_(journal), directory_(directory) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
  const std::string usual = fmt::format("{}/manifest.{}", journal, rank);
  const std::string other = fmt::format("{}/.manifest.{}", directory, rank);
  file_ = base::Descriptor(::open(usual.c_str(), kFlags, 0644));
  if (!file_) file_ = base::Descriptor(::open(other.c_str(), kFlags, 0644));
  if (!file_) {
    throw base::target_error(usual,
                             fmt::format("cannot write the manifest: {}", std::strerror(errno)));
  }
  ::flock(file_.get(), LOCK_EX | LOCK_NB);
  grow(kFirstBytes);
}

Manifest::~Manifest() {
  if (memory_ == nullptr) return;
  ::munmap(memory_, mapped_bytes_);
  // What is beyond the last line is only zeros; a reader stops there, so a failure is harmless.
  if (::ftruncate(file_.get(), static_cast<off_t>(used_bytes_)) != 0) errno = 0;
}

void Manifest::grow(std::size_t bytes) {
  // Allocated, not only extended: writing into a hole of a full file system would be a SIGBUS.
  const int error = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes));
  if (error != 0) {
    throw base::target_error(journal_,
                             fmt::format("cannot write the manifest: {}", std::strerror(error)));
  }
  if (memory_ != nullptr) ::munmap(memory_, mapped_bytes_);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) {
    memory_ = nullptr;
    throw base::target_error(journal_,
                             fmt::format("cannot map the manifest: {}", std::strerror(errno)));
  }
  memory_ = static_cast<char*>(memory);
  mapped_bytes_ = bytes;
}

void Manifest::add(const Entry& entry) {
  constexpr std::size_t kNumbers = 96;
  const std::size_t needed = used_bytes_ + entry.path.size() + kNumbers;
  if (needed > mapped_bytes_) {
    grow(std::max(needed, mapped_bytes_ + std::min(mapped_bytes_, kMostGrowthBytes)));
  }
  char* begin = memory_ + used_bytes_;
  char* end =
      fmt::format_to(begin, "{} {} {} {} {}\n", kWords[static_cast<std::size_t>(entry.kind)],
                     entry.device, entry.inode, entry.birth_ns, entry.path);
  used_bytes_ += static_cast<std::size_t>(end - begin);
}

std::vector<Entry> Manifest::since(std::size_t position) const {
  return parse_manifest({memory_ + position, used_bytes_ - position});
}

void Manifest::rewind(std::size_t position, const std::vector<Entry>& remaining) {
  std::memset(memory_ + position, 0, used_bytes_ - position);
  used_bytes_ = position;
  births_ns_.clear();
  listed_.clear();
  known_bytes_ = 0;
  for (const Entry& entry : remaining) add(entry);
}

void Manifest::learn() {
  if (known_bytes_ == used_bytes_) return;
  for (const Entry& entry : since(known_bytes_)) {
    const Pair pair{entry.device, entry.inode};
    births_ns_[pair] = entry.birth_ns;
    listed_[base::key_of(entry.path)] = pair;
  }
  known_bytes_ = used_bytes_;
}

bool Manifest::owns(const base::Identity& identity) {
  learn();
  const auto found = births_ns_.find({identity.device, identity.inode});
  base::Identity listed = identity;
  if (found != births_ns_.end()) listed.birth_ns = found->second;
  if (found != births_ns_.end() && listed.is_same(identity)) return true;
  const std::vector<Entry> all = read_manifests(journal_, directory_);
  return std::any_of(all.begin(), all.end(),
                     [&](const Entry& entry) { return entry.is(identity); });
}

bool Manifest::denies(const std::string& path, const base::Identity& identity) {
  learn();
  const auto found = listed_.find(base::key_of(path));
  // The name may also have been made anew, by this or by another rank.
  return found != listed_.end() && !owns(identity);
}

std::size_t Manifest::Hash::operator()(const Pair& pair) const noexcept {
  return base::combine(pair.device, pair.inode);
}

}  // namespace venturi::execute

// Writing and growing manifests, and asking them.
#include "execute/manifest.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "comm/back_off.hpp"
#include "execute/manifest_words.hpp"

namespace venturi::execute {
namespace {

constexpr std::size_t kFirstBytes = 65'536;
constexpr std::size_t kMostGrowthBytes = 1'048'576;
/// Another rank's call on an item is waited for so long.
constexpr std::uint64_t kLongestCallNs = 10'000'000'000;

/// A file of this name that is ours alone: made, or, where a run used the journal before, emptied.
base::Descriptor open_own(const std::string& name) {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
  base::Descriptor made(::open(name.c_str(), kFlags | O_CREAT | O_EXCL, 0600));
  if (made || errno != EEXIST) return made;
  base::Descriptor found(::open(name.c_str(), kFlags));
  struct stat status{};
  const bool fine = found && ::fstat(found.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_nlink == 1 && status.st_uid == ::geteuid();
  if (fine && ::ftruncate(found.get(), 0) == 0) return found;
  errno = EEXIST;
  return {};
}

}  // namespace

std::uint64_t coarse_time_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

Manifest::Manifest(const std::string& journal, const std::string& directory, std::size_t rank,
                   const Binding& binding)
    : journal_(journal), directory_(directory), binding_(binding) {
  open(directory, rank);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw base::target_error(journal, "another process writes this run's manifest");
  }
  grow(kFirstBytes);
  const std::string header = header_of(binding.key);
  std::memset(memory_, '\n', kMomentsAt);
  std::memcpy(memory_, header.data(), header.size());
  set_offset(binding.offset_ns);
}

void Manifest::open(const std::string& directory, std::size_t rank) {
  const std::string usual = fmt::format("{}/manifest.{}", journal_, rank);
  file_ = open_own(usual);
  const int error = errno;
  if (!file_ && rank != 0) {
    const std::string other = fmt::format("{}/.manifest.{}", directory, rank);
    file_ = base::Descriptor(
        ::open(other.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  }
  if (file_) return;
  throw base::target_error(usual,
                           fmt::format("cannot write the manifest: {}", std::strerror(error)));
}

void Manifest::set_offset(std::int64_t offset_ns) noexcept {
  binding_.offset_ns = offset_ns;
  const std::array<std::uint64_t, 3> moments{
      binding_.now_ns, binding_.now_ns, coarse_time_ns() + static_cast<std::uint64_t>(offset_ns)};
  std::memcpy(memory_ + kMomentsAt, moments.data(), sizeof moments);
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
  constexpr std::size_t kNumbers = 256;
  const ItemBlock& block = entry.block;
  const std::size_t needed =
      used_bytes_ + entry.path.size() + block.names.size() + entry.counts.size() + kNumbers;
  if (needed > mapped_bytes_) {
    grow(std::max(needed, mapped_bytes_ + std::min(mapped_bytes_, kMostGrowthBytes)));
  }
  const base::Identity& identity = entry.identity;
  char* begin = memory_ + used_bytes_;
  char* end =
      fmt::format_to(begin, "{} {} {} {} {} ", kEntryWords[static_cast<std::size_t>(entry.kind)],
                     identity.device, identity.inode, identity.birth_ns, identity.mark);
  if (is_items(entry.kind)) {
    end = fmt::format_to(end, "{} {} {} {} {} {} {} ", block.node, block.per_node, block.first,
                         block.directories ? "d" : "f", block.names.size(), entry.counts,
                         block.names);
  }
  end = fmt::format_to(end, "{}\n", entry.path);
  used_bytes_ += static_cast<std::size_t>(end - begin);
}

void Manifest::intend(const std::string& path) {
  Entry entry{.kind = EntryKind::kIntent, .path = path};
  entry.identity.birth_ns = coarse_time_ns() + static_cast<std::uint64_t>(binding_.offset_ns);
  intended_at_ = used_bytes_;
  add(entry);
  intended_end_ = used_bytes_;
}

void Manifest::retract(const std::string& path) {
  if (intended_end_ != used_bytes_) return add({.kind = EntryKind::kVoid, .path = path});
  std::memset(memory_ + intended_at_, 0, used_bytes_ - intended_at_);
  used_bytes_ = intended_at_;
  known_bytes_ = std::min(known_bytes_, used_bytes_);
}

std::size_t Manifest::add_items(std::uint64_t key, Entry entry) {
  entry.counts.assign(ItemBlock::kItems, static_cast<char>(kSettled));
  add(entry);
  const std::size_t behind = 1 + entry.block.names.size() + 1 + entry.path.size() + 1;
  const std::size_t place = used_bytes_ - behind - ItemBlock::kItems;
  blocks_.emplace(key, place);
  return place;
}

bool Manifest::any_made(const Entry& entry, std::size_t place) {
  // A rank whose call has made the name may still be about to say so.
  const std::uint64_t until_ns = base::monotonic_ns() + kLongestCallNs;
  comm::BackOff pause;
  while (true) {
    const auto found = asked_.count(entry, place);
    if (found && is_made(*found)) return true;
    // A rank that was not met in this block may have come to it.
    asked_.find(journal_, directory_, binding_.key, entry);
    const unsigned char now = asked_.count(entry, place).value_or(kPending);
    if (is_made(now)) return true;
    if ((now & kPending) == 0 || base::monotonic_ns() > until_ns) return false;
    pause.wait();
  }
}

std::vector<Entry> Manifest::since(std::size_t position) const {
  return parse_lines({memory_ + position, used_bytes_ - position});
}

void Manifest::rewind(std::size_t position, const std::vector<Entry>& remaining) {
  std::memset(memory_ + position, 0, used_bytes_ - position);
  used_bytes_ = position;
  identities_.clear();
  listed_.clear();
  known_bytes_ = kFirstPosition;
  asked_.forget();
  removed_others_ = false;
  std::erase_if(blocks_, [position](const auto& block) { return block.second >= position; });
  for (const Entry& entry : remaining) add(entry);
}

void Manifest::learn() {
  if (known_bytes_ == used_bytes_) return;
  for (const Entry& entry : since(known_bytes_)) {
    const bool settles = entry.kind != EntryKind::kIntent && entry.kind != EntryKind::kVoid;
    if (!settles || is_items(entry.kind)) continue;
    const Pair pair{entry.identity.device, entry.identity.inode};
    identities_[pair] = entry.identity;
    listed_[base::key_of(entry.path)] = pair;
  }
  known_bytes_ = used_bytes_;
}

bool Manifest::owns(const base::Identity& identity) {
  learn();
  const auto found = identities_.find({identity.device, identity.inode});
  if (found != identities_.end() && found->second.is_same(identity)) return true;
  const std::vector<Entry> all = read_manifests(journal_, directory_, binding_.key);
  return std::any_of(all.begin(), all.end(), [&](const Entry& entry) {
    return entry.kind != EntryKind::kIntent && !is_items(entry.kind) &&
           entry.identity.is_same(identity);
  });
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

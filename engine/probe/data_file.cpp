// The data operations: random blocks of a file that is larger than memory.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "backend/move_all.hpp"
#include "probe/page_cache.hpp"
#include "probe/posix_storage.hpp"
#include "probe/stamp.hpp"
#include "probe/time.hpp"

namespace venturi::probe {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

DataFile::DataFile(Ring& ring) : ring_(ring) {
  const Header& head = ring.header();
  std::byte* memory = buffer_.reserve(head.block_bytes);
  fill_random({memory, head.block_bytes}, base::combine(head.key_high, head.key_low));
}

Stamp DataFile::stamp(std::uint64_t offset) const {
  return {ring_.header().key_high, ring_.header().key_low, offset, ring_.header().draws};
}

std::uint64_t DataFile::draw() {
  Header& head = ring_.header();
  const std::uint64_t blocks = head.data_bytes / head.block_bytes;
  return base::uniform(head.key_low, head.draws++, blocks) * head.block_bytes;
}

void DataFile::fill(std::uint64_t offset) {
  // Each page gets words of its own; the rest of it is random already.
  for (std::size_t at = 0; at < ring_.header().block_bytes; at += kPageBytes) {
    std::byte* page = buffer_.data() + at;
    put_stamp({page, kPageBytes}, stamp(offset + at));
    const std::uint64_t key = base::combine(offset + at, ring_.header().draws);
    for (std::size_t word = sizeof(Stamp); word + 512 <= kPageBytes; word += 512) {
      const std::uint64_t value = base::combine(key, word);
      std::memcpy(page + word, &value, sizeof value);
    }
  }
}

void DataFile::make_ready(Operation operation) {
  next_offset_ = draw();
  if (operation == Operation::kDataWrite) fill(next_offset_);
}

int DataFile::open_file(int root, int flags, base::Descriptor& out) const {
  const bool direct = ring_.header().durability_in_use == Durability::kDirect;
  out = base::Descriptor(base::open_beneath(
      root, kDataName, flags | O_CLOEXEC | O_NONBLOCK | (direct ? O_DIRECT : 0)));
  return out ? 0 : errno;
}

int DataFile::make_file(int root) {
  Header& head = ring_.header();
  Durability& used = head.durability_in_use;
  if (head.durability != Durability::kAuto) used = head.durability;
  if (head.data.inode == 0) {
    const base::Descriptor file(::openat(
        root, kDataName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file && errno != EEXIST) return errno;
    const base::Descriptor made(base::open_beneath(root, kDataName, O_RDWR | O_CLOEXEC));
    if (!made) return errno;
    base::Identity identity;
    if (const int error = base::identify(made.get(), "", identity); error != 0) return error;
    // An earlier worker made it and ended before it could say so; it is empty then.
    if (!file && identity.bytes != 0) return EEXIST;
    base::set_mark(made.get(), "", base::combine(head.key_high, 2), identity);
    head.data = {identity.device, identity.inode, identity.birth_ns, identity.mark};
  }
  if (used == Durability::kAuto) {
    used = Durability::kDirect;
    base::Descriptor file;
    if (open_file(root, O_RDWR, file) != 0) used = Durability::kFdatasync;
  }
  return 0;
}

int DataFile::prepare(const std::atomic<bool>& stop) {
  if (const int error = make_root(ring_); error != 0) return error;
  Header& head = ring_.header();
  base::Descriptor root;
  if (const int error = open_root(ring_, root); error != 0) return error;
  if (const int error = make_file(root.get()); error != 0) return error;
  const std::uint64_t blocks = head.data_bytes / head.block_bytes;
  if (head.prepared >= blocks) return 0;
  base::Descriptor file;
  if (const int error = open_file(root.get(), O_WRONLY, file); error != 0) return error;
  while (head.prepared < blocks && !stop) {
    const std::uint64_t offset = head.prepared * head.block_bytes;
    fill(offset);
    const std::span<const std::byte> block{buffer_.data(), head.block_bytes};
    const int error = backend::write_at(file.get(), block, offset);
    if (error != 0) return error;
    head.prepared += 1;
  }
  return ::fdatasync(file.get()) == 0 ? 0 : errno;
}

Outcome DataFile::perform(Operation operation) {
  return operation == Operation::kDataWrite ? write_block() : read_block();
}

Outcome DataFile::write_block() {
  base::Descriptor root;
  if (const int error = open_root(ring_, root); error != 0) return {.error = error};
  base::Descriptor file;
  if (const int error = open_file(root.get(), O_WRONLY, file); error != 0) return {.error = error};
  const std::span<const std::byte> block{buffer_.data(), ring_.header().block_bytes};
  int error = backend::write_at(file.get(), block, next_offset_);
  const bool syncs = ring_.header().durability_in_use == Durability::kFdatasync;
  if (error == 0 && syncs && ::fdatasync(file.get()) != 0) error = errno;
  if (::close(file.release()) != 0 && error == 0) error = errno;
  return {.error = error};
}

Outcome DataFile::read_block() {
  base::Descriptor root;
  if (const int error = open_root(ring_, root); error != 0) return {.error = error};
  base::Descriptor file;
  if (const int error = open_file(root.get(), O_RDONLY, file); error != 0) return {.error = error};
  const Header& head = ring_.header();
  Outcome outcome;
  std::uint64_t before = base::monotonic_ns();
  outcome.flags = cache_flags(file.get(), next_offset_, head.block_bytes);
  outcome.own_ns = base::monotonic_ns() - before;
  const std::span<std::byte> block{buffer_.data(), head.block_bytes};
  outcome.error = backend::read_at(file.get(), block, next_offset_);
  before = base::monotonic_ns();
  for (std::size_t at = 0; outcome.error == 0 && at < block.size(); at += kPageBytes) {
    const std::span<const std::byte> page{buffer_.data() + at, kPageBytes};
    if (!stamp_of(page).is_of(stamp(next_offset_ + at))) outcome.flags |= kCorrupt;
  }
  ::posix_fadvise(file.get(), static_cast<off_t>(next_offset_),
                  static_cast<off_t>(head.block_bytes), POSIX_FADV_DONTNEED);
  if (outcome.error != 0 || (outcome.flags & kCorrupt) != 0) {
    // What is written next must not be what was read here.
    fill_random(block, base::combine(head.key_low, head.draws));
  }
  outcome.own_ns += base::monotonic_ns() - before;
  if (::close(file.release()) != 0 && outcome.error == 0) outcome.error = errno;
  return outcome;
}

std::unique_ptr<Storage> real_storage(Ring& ring) {
  if (ring.header().kind == Kind::kData) return std::make_unique<DataFile>(ring);
  return std::make_unique<FilePool>(ring);
}

}  // namespace venturi::probe

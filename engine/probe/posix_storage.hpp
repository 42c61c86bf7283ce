// The probe's operations on a real directory.
#pragma once

#include <memory>
#include <vector>

#include "base/buffer.hpp"
#include "probe/root.hpp"
#include "probe/stamp.hpp"
#include "probe/storage.hpp"

namespace venturi::probe {

/// A constant pool of small files: the oldest is asked for, read and deleted, a new one created.
class FilePool : public Storage {
 public:
  explicit FilePool(Ring& ring);
  int prepare(const std::atomic<bool>& stop) override;
  [[nodiscard]] bool is_due(Operation operation) const override;
  Outcome perform(Operation operation) override;

 private:
  Outcome stat_oldest(int root) const;
  Outcome read_oldest(int root);
  Outcome delete_oldest(int root);
  int create_newest(int root);
  /// A file whose creation was cut short by the end of a worker: it is written to its end.
  int adopt_newest(int root);
  /// Follows what happened on the storage after the ring was last on its disk.
  int reconcile(int root);
  [[nodiscard]] Stamp stamp(std::uint64_t number) const;

  Ring& ring_;
  std::vector<std::byte> content_;
  std::vector<std::byte> seen_;
  /// One more than the number of the file that was read and is ours.
  std::uint64_t verified_ = 0;
};

/// A file larger than memory, of which random blocks are written and read.
class DataFile : public Storage {
 public:
  explicit DataFile(Ring& ring);
  int prepare(const std::atomic<bool>& stop) override;
  void make_ready(Operation operation) override;
  Outcome perform(Operation operation) override;

 private:
  int open_file(int root, int flags, base::Descriptor& out) const;
  int make_file(int root);
  Outcome write_block();
  Outcome read_block();
  void fill(std::uint64_t offset);
  [[nodiscard]] std::uint64_t draw();
  [[nodiscard]] Stamp stamp(std::uint64_t offset) const;

  Ring& ring_;
  base::Buffer buffer_;
  std::uint64_t next_offset_ = 0;
};

/// What a ring asks for.
std::unique_ptr<Storage> real_storage(Ring& ring);

}  // namespace venturi::probe

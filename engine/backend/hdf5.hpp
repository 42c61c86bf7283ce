// What differs between HDF5 with and without MPI; each library's file implements it.
#pragma once

#include <hdf5.h>

#include <utility>
#include <vector>

#include "backend/table.hpp"

namespace venturi::backend {

/// The row of this interface.
const Entry& hdf5_entry();
/// What it is, with or without the library.
const Description& hdf5_description();

namespace hdf5 {

/// Owns an identifier of HDF5.
class Id {
 public:
  using Close = herr_t (*)(hid_t);

  Id() = default;
  Id(hid_t value, Close close) noexcept : value_(value), close_(close) {}
  Id(Id&& other) noexcept : value_(std::exchange(other.value_, -1)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = std::exchange(other.value_, -1);
      close_ = other.close_;
    }
    return *this;
  }
  ~Id() { reset(); }

  [[nodiscard]] hid_t get() const noexcept { return value_; }
  explicit operator bool() const noexcept { return value_ >= 0; }
  /// Closes it; whether that went well.
  bool reset() noexcept {
    const hid_t value = std::exchange(value_, -1);
    return value < 0 || close_(value) >= 0;
  }

  /// Leaves it as it is, for good.
  void abandon() noexcept { value_ = -1; }

 private:
  hid_t value_ = -1;
  Close close_ = nullptr;
};

/// Whether this library lets the sharers of a file work on it together.
[[nodiscard]] bool is_parallel() noexcept;
/// Makes the files of an access list be opened by all of `sharers`, with the hints and options of
/// `file`; false if HDF5 refuses.
bool share(hid_t access_list, const comm::Group& sharers, const schema::File& file);
/// What is in force below an open file that is shared.
[[nodiscard]] std::vector<schema::Fact> facts_below(hid_t file);
/// Makes the transfers of a list be calls of all sharers; false if HDF5 refuses.
bool together(hid_t transfer_list);

}  // namespace hdf5

}  // namespace venturi::backend

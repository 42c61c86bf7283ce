// What backends on MPI's files share: sizes beyond an int, hints, errors.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/selection.hpp"
#include "base/error.hpp"

namespace venturi::backend {

/// The communicator of those who share a file. Throws base::Error (exit 2) without MPI.
inline MPI_Comm communicator_of(const comm::Group& sharers, const std::string& interface) {
  if (const auto handle = sharers.communicator()) {
    return MPI_Comm_f2c(static_cast<MPI_Fint>(*handle));
  }
  throw base::plan_error("files", interface + " works through MPI, and this run has none",
                         "start it under mpirun: --on openmpi or --on mpich");
}

/// So many bytes as a count and a type, because counts are ints.
class MpiBytes {
 public:
  explicit MpiBytes(std::uint64_t bytes) : count_(static_cast<int>(std::min(bytes, kMost))) {
    if (bytes <= kMost) return;
    constexpr int kChunk = 1 << 20;
    MPI_Datatype chunk = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(kChunk, MPI_BYTE, &chunk);
    const std::uint64_t chunks = bytes / kChunk;
    std::array<int, 2> lengths{static_cast<int>(chunks), static_cast<int>(bytes % kChunk)};
    std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(chunks * kChunk)};
    std::array<MPI_Datatype, 2> types{chunk, MPI_BYTE};
    MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&chunk);
    count_ = 1;
  }
  MpiBytes(const MpiBytes&) = delete;
  MpiBytes& operator=(const MpiBytes&) = delete;
  ~MpiBytes() {
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);
  }
  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

 private:
  static constexpr std::uint64_t kMost = std::numeric_limits<int>::max();

  int count_;
  MPI_Datatype type_ = MPI_BYTE;
};

/// How many bytes a transfer moved.
inline std::uint64_t bytes_moved(const MPI_Status& status) {
  MPI_Count count = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &count);
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

/// The plan's hints as MPI takes them; its stripes are some, too, unless the hints name others.
class MpiHints {
 public:
  explicit MpiHints(const schema::File& file) {
    if (file.stripe && file.stripe->count > 0) {
      set("striping_factor", std::to_string(file.stripe->count));
    }
    if (file.stripe && file.stripe->bytes > 0) {
      set("striping_unit", std::to_string(file.stripe->bytes));
    }
    for (const schema::Option& hint : file.hints) set(hint.name, hint.value);
  }
  MpiHints(const MpiHints&) = delete;
  MpiHints& operator=(const MpiHints&) = delete;
  ~MpiHints() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  [[nodiscard]] MPI_Info get() const noexcept { return info_; }

 private:
  void set(const std::string& name, const std::string& value) {
    if (info_ == MPI_INFO_NULL) MPI_Info_create(&info_);
    MPI_Info_set(info_, name.c_str(), value.c_str());
  }

  MPI_Info info_ = MPI_INFO_NULL;
};

/// All that an info object holds.
inline std::vector<schema::Fact> hints_of(MPI_Info info) {
  std::vector<schema::Fact> out;
  int keys = 0;
  MPI_Info_get_nkeys(info, &keys);
  for (int i = 0; i < keys; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    MPI_Info_get_nthkey(info, i, key.data());
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &found);
    if (found != 0) out.push_back({key.data(), value.data()});
  }
  return out;
}

/// The hints that a file was opened with and those that the library chose.
inline std::vector<schema::Fact> hints_in_force(MPI_File file) {
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return {};
  std::vector<schema::Fact> out = hints_of(info);
  MPI_Info_free(&info);
  return out;
}

/// An MPI result as an errno.
inline int errno_of(int result) {
  if (result == MPI_SUCCESS) return 0;
  int kind = MPI_ERR_OTHER;
  MPI_Error_class(result, &kind);
  const std::array<std::pair<int, int>, 13> known{{{MPI_ERR_NO_SUCH_FILE, ENOENT},
                                                   {MPI_ERR_FILE_EXISTS, EEXIST},
                                                   {MPI_ERR_ACCESS, EACCES},
                                                   {MPI_ERR_NO_SPACE, ENOSPC},
                                                   {MPI_ERR_QUOTA, EDQUOT},
                                                   {MPI_ERR_READ_ONLY, EROFS},
                                                   {MPI_ERR_BAD_FILE, EINVAL},
                                                   {MPI_ERR_FILE_IN_USE, EBUSY},
                                                   {MPI_ERR_AMODE, EINVAL},
                                                   {MPI_ERR_ARG, EINVAL},
                                                   {MPI_ERR_UNSUPPORTED_OPERATION, ENOTSUP},
                                                   {MPI_ERR_UNSUPPORTED_DATAREP, ENOTSUP},
                                                   {MPI_ERR_NO_MEM, ENOMEM}}};
  for (const auto& [mpi, posix] : known) {
    if (kind == mpi) return posix;
  }
  return EIO;
}

/// The errno whose words end a text, else EIO: most errors of the system MPICH says in words only.
inline int errno_said(std::string_view text) {
  for (const int error : {ENOSPC, EDQUOT, EROFS, EFBIG, ESTALE, ENOTCONN, ETIMEDOUT, ENODEV}) {
    if (text.ends_with(std::strerror(error))) return error;
  }
  return EIO;
}

/// Keeps the words of the last failure.
class MpiErrors {
 public:
  /// The errno of a result.
  int note(int result) {
    if (result == MPI_SUCCESS) return 0;
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int length = 0;
    MPI_Error_string(result, text.data(), &length);
    text_ = std::string("the MPI library says: ") + text.data();
    std::replace(text_.begin(), text_.end(), '\n', ' ');
    const int error = errno_of(result);
    return error == EIO ? errno_said(text_) : error;
  }
  [[nodiscard]] const char* text() const noexcept { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace venturi::backend

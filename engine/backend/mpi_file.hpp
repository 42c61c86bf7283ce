// What backends on MPI's files share: sizes beyond an int, hints, errors, open handles.
#pragma once

#include <limits.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/selection.hpp"
#include "base/error.hpp"

namespace venturi::backend {

struct MpiFileOptions {
  std::uint64_t preallocate_bytes = 0;
};

/// The communicator of those who share a file. Throws base::Error (exit 2) without MPI.
inline MPI_Comm communicator_of(const comm::Group& sharers, const std::string& interface) {
  if (const auto handle = sharers.communicator()) {
    return MPI_Comm_f2c(static_cast<MPI_Fint>(*handle));
  }
  throw base::plan_error("files", interface + " works through MPI, and this run has none",
                         "start it under mpirun: --on openmpi or --on mpich");
}

/// The errno of this rank, or ECANCELED if another one failed: then none goes on. Collective.
inline int agreed_error(comm::Group& sharers, int error) {
  const std::uint64_t any = sharers.maximum(static_cast<std::uint64_t>(error));
  return error == 0 && any != 0 ? ECANCELED : error;
}

/// The path of a name for libraries that know no open directories; `root` ends with a slash.
inline std::string path_of(const std::string& root, Directory at, const char* name) {
  if (*name == '/') return name;
  if (at == Backend::kRoot) return root + name;
  std::array<char, PATH_MAX> directory{};
  const std::string link = "/proc/self/fd/" + std::to_string(at);
  return ::readlink(link.c_str(), directory.data(), directory.size() - 1) < 0
             ? root + name
             : std::string(directory.data()) + "/" + name;
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

/// The plan's hints as MPI takes them.
class MpiHints {
 public:
  explicit MpiHints(const schema::File& file) {
    if (file.hints.empty()) return;
    MPI_Info_create(&info_);
    for (const schema::Option& hint : file.hints) {
      MPI_Info_set(info_, hint.name.c_str(), hint.value.c_str());
    }
  }
  MpiHints(const MpiHints&) = delete;
  MpiHints& operator=(const MpiHints&) = delete;
  ~MpiHints() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  [[nodiscard]] MPI_Info get() const noexcept { return info_; }

 private:
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
    return errno_of(result);
  }
  [[nodiscard]] const char* text() const noexcept { return text_.c_str(); }

 private:
  std::string text_;
};

/// Handles of the library's files begin here; smaller numbers are descriptors of directories.
inline constexpr Handle kFirstHandle = Handle{1} << 32U;

/// An open file and its name, from which its identity is read.
struct OpenMpiFile {
  MPI_File file = MPI_FILE_NULL;
  Directory at = 0;
  std::string name;
};

/// Open files by handle.
class OpenMpiFiles {
 public:
  Handle add(OpenMpiFile file) {
    const auto free = std::find_if(files_.begin(), files_.end(), [](const OpenMpiFile& each) {
      return each.file == MPI_FILE_NULL;
    });
    const Handle handle = kFirstHandle + (free - files_.begin());
    if (free == files_.end()) {
      files_.push_back(std::move(file));
    } else {
      *free = std::move(file);
    }
    return handle;
  }
  OpenMpiFile take(Handle handle) {
    return std::exchange(files_[static_cast<std::size_t>(handle - kFirstHandle)], OpenMpiFile{});
  }
  [[nodiscard]] const OpenMpiFile& operator[](Handle handle) const {
    return files_[static_cast<std::size_t>(handle - kFirstHandle)];
  }

 private:
  std::vector<OpenMpiFile> files_;
};

}  // namespace venturi::backend

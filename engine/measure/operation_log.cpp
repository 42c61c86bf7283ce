// The file grows by whole windows; each window begins with a whole row.
#include "measure/operation_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace venturi::measure {

OperationLog::OperationLog(const std::string& path)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (!file_)
    throw base::target_error(path, fmt::format("cannot make it: {}", std::strerror(errno)));
}

OperationLog::~OperationLog() {
  if (window_ != nullptr) ::munmap(window_, kWindowBytes);
}

// Memory of a file without room would end the rank with a signal, so room is asked for first.
bool OperationLog::grow() noexcept {
  if (window_ != nullptr) ::munmap(window_, kWindowBytes);
  window_ = nullptr;
  row_ = end_ = nullptr;
  const auto begin = static_cast<off_t>(mapped_bytes_);
  if (::posix_fallocate(file_.get(), begin, kWindowBytes) != 0) {
    ++lost_;
    return false;
  }
  void* memory =
      ::mmap(nullptr, kWindowBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), begin);
  if (memory == MAP_FAILED) {
    ++lost_;
    return false;
  }
  window_ = memory;
  mapped_bytes_ += kWindowBytes;
  row_ = static_cast<Row*>(memory);
  end_ = row_ + kRowsAtOnce;
  return true;
}

}  // namespace venturi::measure

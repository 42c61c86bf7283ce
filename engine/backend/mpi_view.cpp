// File types out of the levels of a nest. The outermost level is the repetition of the file type.
#include "backend/mpi_view.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "backend/mpi_file.hpp"

namespace venturi::backend {
namespace {

/// A type that is not freed twice.
class Type {
 public:
  Type() = default;
  Type(Type&& other) noexcept : value_(std::exchange(other.value_, MPI_DATATYPE_NULL)) {}
  Type& operator=(Type&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Type() {
    if (value_ != MPI_DATATYPE_NULL) MPI_Type_free(&value_);
  }
  [[nodiscard]] MPI_Datatype get() const noexcept { return value_; }
  [[nodiscard]] MPI_Datatype* out() noexcept { return &value_; }

 private:
  MPI_Datatype value_ = MPI_DATATYPE_NULL;
};

constexpr std::uint64_t kMostTurns = std::numeric_limits<int>::max();

}  // namespace

MpiView::MpiView(const pattern::NestCursor& nest)
    : base_bytes_(static_cast<std::uint64_t>(nest.lowest())), place_bytes_(nest.size_bytes()) {
  if (nest.total() == 0) return;
  for (const pattern::NestLevel& level : nest.levels()) {
    if (level.count <= 1) continue;
    const auto stride = static_cast<std::uint64_t>(level.stride_bytes);
    // A level that goes on where its inner one ends is no level of its own.
    if (!levels_.empty() && levels_.back().stride_bytes == level.count * stride) {
      levels_.back() = {levels_.back().count * level.count, stride};
    } else {
      levels_.push_back({level.count, stride});
    }
  }
}

MPI_Offset MpiView::position_of(std::uint64_t offset) const noexcept {
  std::uint64_t rest = offset - base_bytes_;
  std::uint64_t place = 0;
  for (const Level& level : levels_) {
    place = place * level.count + rest / level.stride_bytes;
    rest %= level.stride_bytes;
  }
  const std::uint64_t position = place * place_bytes_ + rest;
  return static_cast<MPI_Offset>(position);
}

bool MpiView::is_countable() const noexcept {
  return levels_.empty() || std::all_of(levels_.begin() + 1, levels_.end(), [](const Level& level) {
           return level.count <= kMostTurns;
         });
}

int MpiView::set(MPI_File file) const {
  if (!is_countable()) {
    // The others are in the call already.
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    return MPI_ERR_COUNT;
  }
  const MpiBytes bytes(place_bytes_);
  Type shown;
  MPI_Type_contiguous(bytes.count(), bytes.type(), shown.out());
  for (std::size_t i = levels_.size(); i-- > 0;) {
    const Level& level = levels_[i];
    const auto stride = static_cast<MPI_Aint>(level.stride_bytes);
    Type outer;
    if (i == 0) {
      // It may repeat for ever: how often is a matter of the requests.
      MPI_Type_create_resized(shown.get(), 0, stride, outer.out());
    } else {
      MPI_Type_create_hvector(static_cast<int>(level.count), 1, stride, shown.get(), outer.out());
    }
    shown = std::move(outer);
  }
  MPI_Type_commit(shown.out());
  // The library keeps what it needs of the type.
  return MPI_File_set_view(file, static_cast<MPI_Offset>(base_bytes_), MPI_BYTE, shown.get(),
                           "native", MPI_INFO_NULL);
}

}  // namespace venturi::backend

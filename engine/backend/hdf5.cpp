// HDF5: boxes of datasets, written by one process, by all sharers through MPI-IO, or by one of
// them for all.
#include "backend/hdf5.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backend/gather.hpp"
#include "backend/library_names.hpp"
#include "base/error.hpp"

namespace venturi::backend {
namespace {

using hdf5::Id;
using schema::ElementType;

hid_t memory_type(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return H5T_NATIVE_DOUBLE;
    case ElementType::kF32:
      return H5T_NATIVE_FLOAT;
    case ElementType::kI64:
      return H5T_NATIVE_INT64;
    case ElementType::kI32:
      return H5T_NATIVE_INT32;
    case ElementType::kI16:
      return H5T_NATIVE_INT16;
    case ElementType::kI8:
      break;
  }
  return H5T_NATIVE_INT8;
}

std::string version_text() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

hid_t file_type(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return H5T_IEEE_F64LE;
    case ElementType::kF32:
      return H5T_IEEE_F32LE;
    case ElementType::kI64:
      return H5T_STD_I64LE;
    case ElementType::kI32:
      return H5T_STD_I32LE;
    case ElementType::kI16:
      return H5T_STD_I16LE;
    case ElementType::kI8:
      break;
  }
  return H5T_STD_I8LE;
}

/// What HDF5 said last: the deepest message, and the errno that it quotes.
struct Complaint {
  int error = EIO;
  std::string text;
};

herr_t read_complaint(unsigned depth, const H5E_error2_t* entry, void* out) {
  auto& complaint = *static_cast<Complaint*>(out);
  const std::string text = entry->desc == nullptr ? "" : entry->desc;
  // What follows is for those who read HDF5's code: the time, addresses in memory.
  const std::string words = text.substr(0, std::min(text.find(": time = "), text.find('\n')));
  if (depth == 0 || complaint.text.empty()) complaint.text = words;
  if (entry->min_num == H5E_FILEEXISTS) complaint.error = EEXIST;
  constexpr std::string_view kMark = "errno = ";
  const std::size_t at = text.find(kMark);
  if (at != std::string::npos) {
    int error = 0;
    const char* begin = text.data() + at + kMark.size();
    std::from_chars(begin, text.data() + text.size(), error);
    if (error > 0) complaint.error = error;
  }
  return 0;
}

std::vector<hsize_t> sizes_of(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

/// One entry of the plan's datasets in an open file: its space, and the copy that is open.
struct OpenDataset {
  Id id;
  std::uint64_t copy = 0;
  Id space;
};

/// One open file. Identifiers close in the opposite order.
struct OpenHdf5 {
  Id file;
  std::vector<OpenDataset> datasets;
  Id memory;
  std::vector<hsize_t> memory_shape;
};

/// An option that differs from its default even where it has the same value: HDF5's own default
/// depends on its version.
constexpr const char* kChunkCache = "chunk_cache";

/// The settings of a file entry.
struct Settings {
  std::uint64_t alignment_bytes = 1;
  std::uint64_t threshold_bytes = 0;
  std::uint64_t sieve_bytes = 0;
  /// Of each open dataset; absent: what the library takes.
  std::optional<std::uint64_t> chunk_cache_bytes;
  bool latest = false;
  bool fill = true;
};

/// Gives each dataset a cache of chunks of this size; false if HDF5 refuses.
///
/// A chunk has one slot of the cache, and chunks that meet in a slot drive each other out. What is
/// larger than the cache of 1.x gets the slots of 2.x, whose cache is 8 MiB.
bool set_chunk_cache(hid_t access_list, std::uint64_t bytes) {
  constexpr std::uint64_t kSmallBytes = std::uint64_t{1} << 20U;
  constexpr std::size_t kFewSlots = 521;
  constexpr std::size_t kManySlots = 8191;
  constexpr double kFinishedFirst = 0.75;
  return H5Pset_cache(access_list, 0, bytes > kSmallBytes ? kManySlots : kFewSlots, bytes,
                      kFinishedFirst) >= 0;
}

class Hdf5 final : public LibraryNames<OpenHdf5> {
 public:
  Hdf5(const Hdf5&) = delete;
  Hdf5& operator=(const Hdf5&) = delete;
  ~Hdf5() override {
    for (OpenHdf5& open : all()) {
      if (std::uncaught_exceptions() > 0 || has_failed()) {
        give_up(open);
      } else if (!release(open)) {
        note_broken();
      }
    }
  }

  /// `shares`: all sharers have the library's file open, not only the first of them.
  Hdf5(const Environment& environment, const Settings& settings, bool shares);

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    path_ = *name == '/' ? name : root_ + name;
    return LibraryNames::open(at, name, mode, out);
  }
  int close(Handle file) override {
    if (has_failed()) {
      give_up(at(file));
      return DescriptorNames::close(file);
    }
    const int error = release(at(file)) ? 0 : failure();
    if (error != 0) note_broken();
    const int closed = DescriptorNames::close(file);
    return error != 0 ? error : closed;
  }

  int sync(Handle file, schema::SyncMode mode) override {
    if (mode == schema::SyncMode::kNone) return 0;
    // What the library keeps back would be left out of it.
    if (mode == schema::SyncMode::kFileSystem) return ENOTSUP;
    // With MPI this would be a call of all sharers; data is not kept back there, only metadata.
    if (!shares_ && H5Fflush(at(file).file.get(), H5F_SCOPE_LOCAL) < 0) return failure();
    return DescriptorNames::sync(file, mode);
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      completions[i] = move(at(file), direction, requests[i], H5P_DEFAULT);
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }

  Completion submit_together(Handle file, schema::Direction direction,
                             const Request& request) override;

  [[nodiscard]] std::vector<schema::Fact> facts(Handle file) const override;
  [[nodiscard]] const char* hint(int error) const noexcept override {
    return complaint_.empty() ? DescriptorNames::hint(error) : complaint_.c_str();
  }

 protected:
  int open_content(int descriptor, OpenMode mode, bool is_new, OpenHdf5& open) override;
  int make_file(const std::string& path, OpenHdf5& open, int& descriptor) override;
  std::uint64_t agreed_bytes(std::uint64_t bytes) override {
    return shares_ ? sharers_->maximum(bytes) : bytes;
  }

 private:
  /// Keeps what HDF5 complained of, for the hint. An errno.
  int failure() {
    Complaint complaint;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, read_complaint, &complaint);
    complaint_ = complaint.text.empty() ? "" : "HDF5 says: " + complaint.text;
    return complaint.error;
  }

  static bool release(OpenHdf5& open) {
    open.memory.reset();
    open.datasets.clear();
    return open.file.reset();
  }

  /// The run is over, as all sharers know: what was refused once would be tried again by a close,
  /// and where that is refused to one of them HDF5 leaves all waiting for ever.
  [[nodiscard]] bool has_failed() const noexcept {
    return shares_ && sharers_->own_counters().failed.load(std::memory_order_relaxed) != 0;
  }

  /// Ends what could not be filled. With MPI closing is a call of all sharers, and where one of
  /// them failed HDF5 waits in different places for the others: then nothing is closed any more.
  void give_up(OpenHdf5& open) {
    if (!shares_) {
      release(open);
      return;
    }
    if (!open.file) return;
    for (OpenDataset& dataset : open.datasets) dataset.id.abandon();
    open.file.abandon();
    note_broken();
  }
  /// HDF5 closes what is left when MPI ends, and would hang or crash there.
  void note_broken() {
    if (shares_) sharers_->own_counters().holds_broken = 1;
  }

  bool make_dataset(OpenHdf5& open, const schema::Dataset& dataset, OpenDataset& made) const;
  int open_copy(OpenHdf5& open, std::size_t index, std::uint64_t copy);
  int select(OpenHdf5& open, const pattern::Box& box);
  Completion move(OpenHdf5& open, schema::Direction direction, const Request& request, hid_t how);
  bool agree(OpenHdf5& open, pattern::Box& box, bool nothing);

  int make_datasets(OpenHdf5& open);

  std::string root_;
  std::string path_;
  comm::Group* sharers_;
  Settings settings_;
  bool shares_;
  Id access_;
  Id all_;
  std::string complaint_;
};

Hdf5::Hdf5(const Environment& environment, const Settings& settings, bool shares)
    : LibraryNames(environment),
      root_(environment.root + "/"),
      sharers_(environment.sharers),
      settings_(settings),
      shares_(shares) {
  // Whatever is left open at the end must not be written after MPI has ended.
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  access_ = Id(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  bool fine = H5Pset_alignment(access_.get(), settings.threshold_bytes,
                               std::max<hsize_t>(1, settings.alignment_bytes)) >= 0;
  if (settings.sieve_bytes > 0) {
    fine = fine && H5Pset_sieve_buf_size(access_.get(), settings.sieve_bytes) >= 0;
  }
  if (settings.chunk_cache_bytes) {
    fine = fine && set_chunk_cache(access_.get(), *settings.chunk_cache_bytes);
  }
  if (settings.latest) {
    fine = fine && H5Pset_libver_bounds(access_.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0;
  }
  if (shares) {
    all_ = Id(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    fine = fine && hdf5::share(access_.get(), *sharers_, plan()) && hdf5::together(all_.get());
  }
  if (fine) return;
  failure();
  throw base::plan_error(plan().name, "HDF5 refuses the options of this file", complaint_);
}

int Hdf5::open_content(int descriptor, OpenMode mode, bool is_new, OpenHdf5& open) {
  complaint_.clear();
  // The very file that was opened, whatever its name means by now; but MPI wants one name for all.
  const std::string path = shares_ ? path_ : fmt::format("/proc/self/fd/{}", descriptor);
  const unsigned flags = mode == OpenMode::kRead ? H5F_ACC_RDONLY : H5F_ACC_RDWR;
  open.file = Id(is_new ? H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_.get())
                        : H5Fopen(path.c_str(), flags, access_.get()),
                 H5Fclose);
  open.datasets.resize(plan().datasets.size());
  int error = open.file ? 0 : failure();
  if (error == 0 && is_new) error = make_datasets(open);
  const std::uint64_t any =
      shares_ ? sharers_->maximum(static_cast<std::uint64_t>(error)) : std::uint64_t{0};
  if (error == 0 && any != 0) error = ECANCELED;
  if (error != 0) give_up(open);
  return error;
}

int Hdf5::make_file(const std::string& path, OpenHdf5& open, int& descriptor) {
  complaint_.clear();
  open.file = Id(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access_.get()), H5Fclose);
  if (!open.file) {
    const int error = failure();
    // A name that was taken is EEXIST; here it was made, and there was no room for more.
    if (error == ENOSPC || error == EDQUOT) ::unlink(path.c_str());
    return error;
  }
  void* own = nullptr;
  if (H5Fget_vfd_handle(open.file.get(), H5P_DEFAULT, &own) < 0) return failure();
  open.datasets.resize(plan().datasets.size());
  const int error = make_datasets(open);
  descriptor = error != 0 ? -1 : ::fcntl(*static_cast<const int*>(own), F_DUPFD_CLOEXEC, 0);
  if (descriptor >= 0) return 0;
  const int why = error != 0 ? error : errno;
  release(open);
  ::unlink(path.c_str());  // it was made above, and nobody has listed it yet
  return why;
}

int Hdf5::make_datasets(OpenHdf5& open) {
  for (std::size_t i = 0; i < open.datasets.size(); ++i) {
    if (!make_dataset(open, plan().datasets[i], open.datasets[i])) return failure();
  }
  return 0;
}

bool Hdf5::make_dataset(OpenHdf5& open, const schema::Dataset& dataset, OpenDataset& made) const {
  const std::vector<hsize_t> shape = sizes_of(dataset.shape);
  const std::vector<hsize_t> chunk = sizes_of(dataset.chunk);
  const Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const Id space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  if (!how || !space) return false;
  if (!settings_.fill && H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER) < 0) return false;
  if (!chunk.empty() && H5Pset_chunk(how.get(), static_cast<int>(chunk.size()), chunk.data()) < 0) {
    return false;
  }
  if (dataset.shuffle && H5Pset_shuffle(how.get()) < 0) return false;
  if (dataset.deflate > 0 &&
      H5Pset_deflate(how.get(), static_cast<unsigned>(dataset.deflate)) < 0) {
    return false;
  }
  for (std::uint64_t copy = 0; copy < static_cast<std::uint64_t>(dataset.copies); ++copy) {
    made.id =
        Id(H5Dcreate2(open.file.get(), dataset_name(dataset, copy).c_str(), file_type(dataset.type),
                      space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
           H5Dclose);
    made.copy = copy;
    if (!made.id) return false;
  }
  return true;
}

int Hdf5::open_copy(OpenHdf5& open, std::size_t index, std::uint64_t copy) {
  if (index >= open.datasets.size()) return EINVAL;
  const schema::Dataset& dataset = plan().datasets[index];
  OpenDataset& mine = open.datasets[index];
  if (!mine.id || mine.copy != copy) {
    mine.id =
        Id(H5Dopen2(open.file.get(), dataset_name(dataset, copy).c_str(), H5P_DEFAULT), H5Dclose);
    if (!mine.id) return failure();
    mine.copy = copy;
  }
  if (!mine.space) mine.space = Id(H5Dget_space(mine.id.get()), H5Sclose);
  return mine.space ? 0 : failure();
}

/// Chooses the elements in the file and as many in memory; a box without elements chooses none.
int Hdf5::select(OpenHdf5& open, const pattern::Box& box) {
  if (const int error = open_copy(open, box.dataset, box.copy)) return error;
  const hid_t space = open.datasets[box.dataset].space.get();
  if (H5Sget_simple_extent_ndims(space) != static_cast<int>(box.dimensions)) {
    complaint_ = "the dataset in the file has another number of dimensions";
    return EINVAL;
  }
  std::array<hsize_t, pattern::Box::kMostDimensions> start{};
  std::array<hsize_t, pattern::Box::kMostDimensions> extent{};
  hsize_t elements = 1;
  for (std::size_t d = 0; d < box.dimensions; ++d) {
    start[d] = box.start[d];
    extent[d] = box.extent[d];
    elements *= extent[d];
  }
  // Of the same shape as the box, as applications have it: HDF5 maps other shapes to chunks element
  // by element.
  const std::span<const hsize_t> shape(extent.data(), box.dimensions);
  if (!open.memory ||
      !std::equal(shape.begin(), shape.end(), open.memory_shape.begin(), open.memory_shape.end())) {
    open.memory_shape.assign(shape.begin(), shape.end());
    open.memory =
        Id(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
    if (!open.memory || (elements == 0 && H5Sselect_none(open.memory.get()) < 0)) return failure();
  }
  const bool chosen = elements == 0 ? H5Sselect_none(space) >= 0
                                    : H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(),
                                                          nullptr, extent.data(), nullptr) >= 0;
  return chosen ? 0 : failure();
}

Completion Hdf5::move(OpenHdf5& open, schema::Direction direction, const Request& request,
                      hid_t how) {
  const pattern::Box box = box_of(request);
  if (const int error = select(open, box)) return {clock().now_ns(), 0, error};
  const OpenDataset& dataset = open.datasets[box.dataset];
  const hid_t type = memory_type(plan().datasets[box.dataset].type);
  const herr_t result = direction == schema::Direction::kWrite
                            ? H5Dwrite(dataset.id.get(), type, open.memory.get(),
                                       dataset.space.get(), how, request.data)
                            : H5Dread(dataset.id.get(), type, open.memory.get(),
                                      dataset.space.get(), how, request.data);
  const int error = result < 0 ? failure() : 0;
  return {clock().now_ns(), error != 0 ? 0 : request.bytes, error};
}

/// A call of all sharers must name one dataset, and a rank that moves nothing may not know which.
/// False if ranks that move something name different ones.
bool Hdf5::agree(OpenHdf5& open, pattern::Box& box, bool nothing) {
  const bool only_one = plan().datasets.size() == 1 && plan().datasets.front().copies == 1;
  if (nothing) box = {.dataset = 0, .copy = 0, .dimensions = plan().datasets.front().shape.size()};
  if (only_one || open.datasets.empty()) return true;
  // The greatest of each number and of its negative: they agree where the two are the same.
  const auto own = [&](std::uint64_t number) { return nothing ? 0 : number; };
  constexpr std::uint64_t kTop = std::uint64_t{1} << 62U;
  std::array<std::uint64_t, 4> most{own(box.dataset + 1), own(kTop - box.dataset),
                                    own(box.copy + 1), own(kTop - box.copy)};
  sharers_->reduce(most, comm::Reduction::kMaximum);
  if (most[0] == 0) return true;
  box.dataset = most[0] - 1;
  box.copy = most[2] - 1;
  if (nothing) box.dimensions = plan().datasets[box.dataset].shape.size();
  return most[1] == kTop - box.dataset && most[3] == kTop - box.copy;
}

std::vector<schema::Fact> Hdf5::facts(Handle file) const {
  std::vector<schema::Fact> facts = DescriptorNames::facts(file);
  facts.push_back({"library", version_text()});
  facts.push_back({"driver", shares_ ? "mpio" : "sec2"});
  if (!shares_) return facts;
  for (schema::Fact& fact : hdf5::facts_below(at(file).file.get())) {
    facts.push_back(std::move(fact));
  }
  return facts;
}

Completion Hdf5::submit_together(Handle file, schema::Direction direction, const Request& request) {
  OpenHdf5& open = at(file);
  pattern::Box box = box_of(request);
  if (!agree(open, box, request.bytes == 0)) {
    complaint_ = "ranks that make a call together must write or read the same dataset";
    return {clock().now_ns(), 0, EINVAL};
  }
  Request own = request;
  own.box = &box;
  return move(open, direction, own, all_.get());
}

/// Whether one of the sharers works for the others: as asked for, or because this library knows no
/// sharing.
bool is_gathered(const schema::File& file) {
  if (!opens_together(file)) return false;
  return !hdf5::is_parallel() || boolean_option(hdf5_entry(), file.options, "gather");
}

std::optional<std::uint64_t> chunk_cache_of(const std::vector<schema::Option>& options) {
  const bool is_set = std::any_of(options.begin(), options.end(), [](const schema::Option& option) {
    return option.name == kChunkCache;
  });
  if (!is_set) return std::nullopt;
  return bytes_option(hdf5_entry(), options, kChunkCache);
}

std::unique_ptr<Backend> make_hdf5(const Environment& environment,
                                   const std::vector<schema::Option>& options) {
  const Entry& entry = hdf5_entry();
  const Settings settings{
      .alignment_bytes = bytes_option(entry, options, "alignment"),
      .threshold_bytes = bytes_option(entry, options, "threshold"),
      .sieve_bytes = bytes_option(entry, options, "sieve_bytes"),
      .chunk_cache_bytes = chunk_cache_of(options),
      .latest = word_option(entry, options, "libver") == "latest",
      .fill = !boolean_option(entry, options, "no_fill"),
  };
  const bool gathers = is_gathered(*environment.file);
  const bool shares = opens_together(*environment.file) && !gathers;
  auto storage = std::make_unique<Hdf5>(environment, settings, shares);
  if (!gathers) return storage;
  return make_gathered(std::move(storage), environment);
}

/// What every build has, and what only one with MPI has beside it.
template <class Item>
std::vector<Item> in_force(std::vector<Item> items, const std::vector<Item>& with_mpi) {
  if (hdf5::is_parallel()) items.insert(items.end(), with_mpi.begin(), with_mpi.end());
  return items;
}

}  // namespace

const Entry& hdf5_entry() {
  const Description& about = hdf5_description();
  static const Entry entry{in_force(about.options, about.mpi_options),
                           in_force(about.capabilities, about.mpi_capabilities),
                           make_hdf5,
                           true,
                           is_gathered,
                           nullptr,
                           version_text};
  return entry;
}

}  // namespace venturi::backend

// PnetCDF: boxes of variables by all sharers, alone, together, or begun now and done later.
#include <fmt/format.h>
#include <pnetcdf.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "backend/descriptor_names.hpp"
#include "backend/mpi_file.hpp"
#include "backend/selection.hpp"
#include "backend/table.hpp"
#include "pattern/dataset.hpp"

namespace venturi::backend {
namespace {

using schema::ElementType;

nc_type type_of(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return NC_DOUBLE;
    case ElementType::kF32:
      return NC_FLOAT;
    case ElementType::kI64:
      return NC_INT64;
    case ElementType::kI32:
      return NC_INT;
    case ElementType::kI16:
      return NC_SHORT;
    case ElementType::kI8:
      break;
  }
  return NC_BYTE;
}

MPI_Datatype memory_type(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return MPI_DOUBLE;
    case ElementType::kF32:
      return MPI_FLOAT;
    case ElementType::kI64:
      return MPI_LONG_LONG_INT;
    case ElementType::kI32:
      return MPI_INT;
    case ElementType::kI16:
      return MPI_SHORT;
    case ElementType::kI8:
      break;
  }
  return MPI_SIGNED_CHAR;
}

int errno_of_netcdf(int result) {
  switch (result) {
    case NC_NOERR:
      return 0;
    case NC_ENOENT:
      return ENOENT;
    case NC_EEXIST:
      return EEXIST;
    case NC_EACCESS:
    case NC_EPERM:
      return EACCES;
    case NC_ENO_SPACE:
      return ENOSPC;
    case NC_EQUOTA:
      return EDQUOT;
    case NC_EINVAL:
    case NC_EINVALCOORDS:
    case NC_EEDGE:
    case NC_EVARSIZE:
    case NC_EBADDIM:
      return EINVAL;
    default:
      return EIO;
  }
}

/// A box in the library's terms.
struct Selection {
  explicit Selection(const Request& request) : box(box_of(request)) {
    for (std::size_t d = 0; d < box.dimensions; ++d) {
      start[d] = static_cast<MPI_Offset>(box.start[d]);
      extent[d] = static_cast<MPI_Offset>(box.extent[d]);
      elements *= extent[d];
    }
  }
  pattern::Box box;
  std::array<MPI_Offset, pattern::Box::kMostDimensions> start{};
  std::array<MPI_Offset, pattern::Box::kMostDimensions> extent{};
  MPI_Offset elements = 1;
};

/// One open file: the library's number, and the first variable of each entry of the datasets;
/// copies have consecutive numbers.
struct OpenPnetcdf {
  int id = -1;
  std::vector<int> variables;
  /// In the mode in which each process moves data on its own.
  bool independent = false;
  Directory at = 0;
  std::string name;
  /// Requests in flight, and those that `reap` still has to name.
  std::vector<int> begun;
  std::vector<Done> tags;
};

class Pnetcdf final : public DescriptorNames {
 public:
  Pnetcdf(const Environment& environment, bool fill)
      : DescriptorNames(environment, {}),
        root_(environment.root + "/"),
        plan_(*environment.file),
        sharers_(*environment.sharers),
        together_(opens_together(*environment.file)),
        fill_(fill),
        communicator_(communicator_of(sharers_, "pnetcdf")),
        hints_(*environment.file) {}

  [[nodiscard]] Traits traits() const noexcept override {
    Traits traits = DescriptorNames::traits();
    traits.opens_together = together_;
    return traits;
  }

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override;
  int close(Handle file) override {
    OpenPnetcdf& open = files_[static_cast<std::size_t>(file - kFirstHandle)];
    if (open.independent) ncmpi_end_indep_data(open.id);
    const int error = note(ncmpi_close(open.id));
    open = OpenPnetcdf{};
    return error;
  }
  int sync(Handle file, schema::SyncMode mode) override {
    if (mode == schema::SyncMode::kNone || mode == schema::SyncMode::kFlush) return 0;
    // What the library keeps back would be left out of it.
    if (mode == schema::SyncMode::kFileSystem) return ENOTSUP;
    // The library's own sync is for all sharers together; a descriptor of the file does the same.
    const OpenPnetcdf& open = files_[static_cast<std::size_t>(file - kFirstHandle)];
    Handle descriptor = -1;
    if (const int error =
            DescriptorNames::open(open.at, open.name.c_str(), OpenMode::kReadWrite, descriptor)) {
      return error;
    }
    const int error = DescriptorNames::sync(descriptor, mode);
    DescriptorNames::close(descriptor);
    return error;
  }
  int identify(Handle file, Identity& out) override {
    if (file < kFirstHandle) return DescriptorNames::identify(file, out);
    const OpenPnetcdf& open = files_[static_cast<std::size_t>(file - kFirstHandle)];
    return DescriptorNames::stat(open.at, open.name.c_str(), out);
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    OpenPnetcdf& open = files_[static_cast<std::size_t>(file - kFirstHandle)];
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const int error = move(open, direction, requests[i], false);
      completions[i] = {clock().now_ns(), error != 0 ? 0 : requests[i].bytes, error};
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }
  Completion submit_together(Handle file, schema::Direction direction,
                             const Request& request) override {
    OpenPnetcdf& open = files_[static_cast<std::size_t>(file - kFirstHandle)];
    int error = be_independent(open, false);
    if (error == 0) error = move(open, direction, request, true);
    return {clock().now_ns(), error != 0 ? 0 : request.bytes, error};
  }
  void end_together(Handle file) override {
    be_independent(files_[static_cast<std::size_t>(file - kFirstHandle)], true);
  }

  int begin(Handle file, schema::Direction direction, const Request& request,
            std::uint32_t tag) override;
  std::size_t reap(std::span<Done> out, std::uint64_t until_ns) override;

  [[nodiscard]] std::vector<schema::Fact> facts(Handle file) const override {
    MPI_Info info = MPI_INFO_NULL;
    const int id = files_[static_cast<std::size_t>(file - kFirstHandle)].id;
    if (ncmpi_inq_file_info(id, &info) != NC_NOERR || info == MPI_INFO_NULL) return {};
    std::vector<schema::Fact> out = hints_of(info);
    MPI_Info_free(&info);
    return out;
  }
  [[nodiscard]] const char* hint(int error) const noexcept override {
    return complaint_.empty() ? DescriptorNames::hint(error) : complaint_.c_str();
  }

 private:
  /// Opens a file as POSIX does, and closes it: makes it, says what it is, or why it cannot be.
  int look_at(Directory at, const char* name, OpenMode mode, Identity& out) {
    Handle checked = -1;
    if (const int error = DescriptorNames::open(at, name, mode, checked)) return error;
    const int unknown = DescriptorNames::identify(checked, out);
    DescriptorNames::close(checked);
    if (unknown != 0) return unknown;
    return out.regular ? 0 : EINVAL;
  }
  int note(int result) {
    if (result == NC_NOERR) return 0;
    complaint_ = fmt::format("PnetCDF says: {}", ncmpi_strerror(result));
    return errno_of_netcdf(result);
  }
  /// Collective. Files are in the mode where each process moves data on its own, from their opening
  /// on; a call together, which all sharers come to, changes that until `end_together`.
  int be_independent(OpenPnetcdf& open, bool wanted) {
    if (open.independent == wanted) return 0;
    open.independent = wanted;
    return note(wanted ? ncmpi_begin_indep_data(open.id) : ncmpi_end_indep_data(open.id));
  }

  int define(OpenPnetcdf& open);
  int find(OpenPnetcdf& open);
  int move(OpenPnetcdf& open, schema::Direction direction, const Request& request, bool together);
  [[nodiscard]] const schema::Dataset& dataset_of(const Selection& selection) const {
    return plan_.datasets[selection.box.dataset];
  }

  std::string root_;
  const schema::File& plan_;
  comm::Group& sharers_;
  bool together_;
  bool fill_;
  MPI_Comm communicator_;
  MpiHints hints_;
  std::string complaint_;
  std::vector<OpenPnetcdf> files_;
};

int Pnetcdf::open(Directory at, const char* name, OpenMode mode, Handle& out) {
  complaint_.clear();
  const bool makes = mode == OpenMode::kCreate || mode == OpenMode::kTruncate;
  Identity identity;
  const int error_here = look_at(at, name, mode, identity);
  if (makes && together_) return error_here;
  if (const int error = agreed_error(sharers_, error_here)) return error;
  // Another sharer may have begun to fill it: the first one's word counts.
  std::uint64_t bytes = identity.bytes;
  sharers_.broadcast(bytes);
  const bool is_new = bytes == 0;
  OpenPnetcdf open;
  open.at = at;
  open.name = name;
  const std::string path = path_of(root_, at, name);
  const int how = mode == OpenMode::kRead ? NC_NOWRITE : NC_WRITE;
  int error = note(is_new ? ncmpi_create(communicator_, path.c_str(), NC_CLOBBER | NC_64BIT_DATA,
                                         hints_.get(), &open.id)
                          : ncmpi_open(communicator_, path.c_str(), how, hints_.get(), &open.id));
  if (error != 0) return error;
  error = is_new ? define(open) : find(open);
  if (error == 0) error = be_independent(open, true);
  if (error != 0) {
    ncmpi_abort(open.id);
    return error;
  }
  const auto free = std::find_if(files_.begin(), files_.end(),
                                 [](const OpenPnetcdf& each) { return each.id < 0; });
  out = kFirstHandle + (free - files_.begin());
  if (free == files_.end()) {
    files_.push_back(std::move(open));
  } else {
    *free = std::move(open);
  }
  return 0;
}

int Pnetcdf::define(OpenPnetcdf& open) {
  if (fill_) {
    if (const int error = note(ncmpi_set_fill(open.id, NC_FILL, nullptr))) return error;
  }
  for (const schema::Dataset& dataset : plan_.datasets) {
    std::vector<int> dimensions;
    for (std::size_t d = 0; d < dataset.shape.size(); ++d) {
      const std::string name = fmt::format("{}_dim{}", dataset.name, d);
      const int result =
          ncmpi_def_dim(open.id, name.c_str(), dataset.shape[d], &dimensions.emplace_back());
      if (const int error = note(result)) return error;
    }
    for (std::uint64_t copy = 0; copy < static_cast<std::uint64_t>(dataset.copies); ++copy) {
      int variable = -1;
      const int result =
          ncmpi_def_var(open.id, dataset_name(dataset, copy).c_str(), type_of(dataset.type),
                        static_cast<int>(dimensions.size()), dimensions.data(), &variable);
      if (const int error = note(result)) return error;
      if (copy == 0) open.variables.push_back(variable);
    }
  }
  return note(ncmpi_enddef(open.id));
}

int Pnetcdf::find(OpenPnetcdf& open) {
  for (const schema::Dataset& dataset : plan_.datasets) {
    int& variable = open.variables.emplace_back(-1);
    const std::string name = dataset_name(dataset, 0);
    if (const int error = note(ncmpi_inq_varid(open.id, name.c_str(), &variable))) return error;
  }
  return 0;
}

int Pnetcdf::move(OpenPnetcdf& open, schema::Direction direction, const Request& request,
                  bool together) {
  // Who has nothing to move selects nothing of the first variable.
  Selection selection(request);
  if (request.bytes == 0) selection = Selection(Request{});
  if (selection.box.dataset >= open.variables.size()) return EINVAL;
  const schema::Dataset& dataset = dataset_of(selection);
  const int variable = open.variables[selection.box.dataset] + static_cast<int>(selection.box.copy);
  const MPI_Datatype type = memory_type(dataset.type);
  const bool writes = direction == schema::Direction::kWrite;
  const auto put = together ? ncmpi_put_vara_all : ncmpi_put_vara;
  const auto get = together ? ncmpi_get_vara_all : ncmpi_get_vara;
  const MPI_Offset elements = request.bytes == 0 ? 0 : selection.elements;
  return note(writes ? put(open.id, variable, selection.start.data(), selection.extent.data(),
                           request.data, elements, type)
                     : get(open.id, variable, selection.start.data(), selection.extent.data(),
                           request.data, elements, type));
}

int Pnetcdf::begin(Handle file, schema::Direction direction, const Request& request,
                   std::uint32_t tag) {
  OpenPnetcdf& open = files_[static_cast<std::size_t>(file - kFirstHandle)];
  const Selection selection(request);
  if (selection.box.dataset >= open.variables.size()) return EINVAL;
  const int variable = open.variables[selection.box.dataset] + static_cast<int>(selection.box.copy);
  const MPI_Datatype type = memory_type(dataset_of(selection).type);
  int begun = NC_REQ_NULL;
  const int result =
      direction == schema::Direction::kWrite
          ? ncmpi_iput_vara(open.id, variable, selection.start.data(), selection.extent.data(),
                            request.data, selection.elements, type, &begun)
          : ncmpi_iget_vara(open.id, variable, selection.start.data(), selection.extent.data(),
                            request.data, selection.elements, type, &begun);
  if (const int error = note(result)) return error;
  open.begun.push_back(begun);
  open.tags.push_back({tag, {0, request.bytes, 0}});
  return 0;
}

// The library does what was begun when it is waited for, all of it in one call.
std::size_t Pnetcdf::reap(std::span<Done> out, std::uint64_t /*until_ns*/) {
  for (OpenPnetcdf& open : files_) {
    if (open.tags.empty()) continue;
    std::vector<int> results(open.begun.size(), NC_NOERR);
    if (!open.begun.empty()) {
      const int result = ncmpi_wait(open.id, static_cast<int>(open.begun.size()), open.begun.data(),
                                    results.data());
      const std::uint64_t now = clock().now_ns();
      for (std::size_t i = 0; i < results.size(); ++i) {
        const int error = note(results[i] != NC_NOERR ? results[i] : result);
        Completion& completion = open.tags[i].completion;
        completion = {now, error != 0 ? 0 : completion.bytes, error};
      }
      open.begun.clear();
    }
    const std::size_t count = std::min(out.size(), open.tags.size());
    std::copy_n(open.tags.begin(), count, out.begin());
    open.tags.erase(open.tags.begin(), open.tags.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  return 0;
}

}  // namespace

const Entry& pnetcdf_entry();
const Entry& pnetcdf_entry() {
  static const Entry entry{
      {{"fill", "boolean", "false", "space of a new variable is filled first", "true or false"}},
      {kSharedFiles, kRandomAccess, kNames, kSync, kDatasets, kDepth, kCollective, kHints},
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        const bool fill = boolean_option(pnetcdf_entry(), options, "fill");
        return std::make_unique<Pnetcdf>(environment, fill);
      },
      true};
  return entry;
}

}  // namespace venturi::backend

// PnetCDF: boxes of variables by all sharers, alone, together, or begun now and done later.
#include <fmt/format.h>
#include <pnetcdf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "backend/mpi_names.hpp"
#include "backend/netcdf_type.hpp"
#include "backend/selection.hpp"
#include "backend/table.hpp"
#include "base/room.hpp"
#include "pattern/dataset.hpp"

namespace venturi::backend {
namespace {

using schema::ElementType;

static_assert(netcdf_type(ElementType::kF64) == NC_DOUBLE &&
              netcdf_type(ElementType::kF32) == NC_FLOAT &&
              netcdf_type(ElementType::kI64) == NC_INT64 &&
              netcdf_type(ElementType::kI32) == NC_INT &&
              netcdf_type(ElementType::kI16) == NC_SHORT &&
              netcdf_type(ElementType::kI8) == NC_BYTE);

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
struct OpenPnetcdf : OpenName {
  int id = -1;
  std::vector<int> variables;
  /// In the mode in which each process moves data on its own.
  bool independent = false;
  /// The file reaches at least so far by what this rank wrote.
  std::uint64_t written_end = 0;
  /// Requests in flight, and those that `reap` still has to name.
  std::vector<int> begun;
  std::vector<Done> tags;
};

class Pnetcdf final : public MpiNames<OpenPnetcdf> {
 public:
  Pnetcdf(const Environment& environment, bool fill)
      : MpiNames(environment, "pnetcdf"), plan_(*environment.file), fill_(fill) {}

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    complaint_.clear();
    return MpiNames::open(at, name, mode, out);
  }
  int close(Handle file) override {
    const OpenPnetcdf open = files().take(file);
    if (open.independent) ncmpi_end_indep_data(open.id);
    const int error = note(ncmpi_close(open.id));
    return error != 0 ? error : find_loss(open);
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    OpenPnetcdf& open = files()[file];
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const int error = move(open, direction, requests[i], false);
      completions[i] = {clock().now_ns(), error != 0 ? 0 : requests[i].bytes, error};
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }
  Completion submit_together(Handle file, schema::Direction direction,
                             const Request& request) override {
    OpenPnetcdf& open = files()[file];
    int error = be_independent(open, false);
    if (error == 0) error = move(open, direction, request, true);
    return {clock().now_ns(), error != 0 ? 0 : request.bytes, error};
  }
  void end_together(Handle file) override { be_independent(files()[file], true); }

  int begin(Handle file, schema::Direction direction, const Request& request,
            std::uint32_t tag) override;
  std::size_t reap(std::span<Done> out, std::uint64_t until_ns) override;

  [[nodiscard]] const char* hint(int error) const noexcept override {
    return complaint_.empty() ? DescriptorNames::hint(error) : complaint_.c_str();
  }

 protected:
  [[nodiscard]] std::vector<schema::Fact> library_facts(const OpenPnetcdf& open) const override {
    MPI_Info info = MPI_INFO_NULL;
    if (ncmpi_inq_file_info(open.id, &info) != NC_NOERR || info == MPI_INFO_NULL) return {};
    std::vector<schema::Fact> out = hints_of(info);
    MPI_Info_free(&info);
    return out;
  }
  int open_file(const std::string& path, OpenMode mode, bool is_new, OpenPnetcdf& out) override;

 private:
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
  void note_written(OpenPnetcdf& open, const Selection& selection, int variable) const;
  int find_loss(const OpenPnetcdf& open);
  int move(OpenPnetcdf& open, schema::Direction direction, const Request& request, bool together);
  [[nodiscard]] const schema::Dataset& dataset_of(const Selection& selection) const {
    return plan_.datasets[selection.box.dataset];
  }

  const schema::File& plan_;
  bool fill_;
  std::string complaint_;
};

int Pnetcdf::open_file(const std::string& path, OpenMode mode, bool is_new, OpenPnetcdf& out) {
  const int how = mode == OpenMode::kRead ? NC_NOWRITE : NC_WRITE;
  int error = note(is_new ? ncmpi_create(communicator(), path.c_str(), NC_CLOBBER | NC_64BIT_DATA,
                                         hints(), &out.id)
                          : ncmpi_open(communicator(), path.c_str(), how, hints(), &out.id));
  if (error != 0) return error;
  error = is_new ? define(out) : find(out);
  if (error == 0) error = be_independent(out, true);
  if (error != 0) ncmpi_abort(out.id);
  return error;
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
          ncmpi_def_var(open.id, dataset_name(dataset, copy).c_str(), netcdf_type(dataset.type),
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

void Pnetcdf::note_written(OpenPnetcdf& open, const Selection& selection, int variable) const {
  MPI_Offset begin = 0;
  if (selection.elements == 0 || ncmpi_inq_varoffset(open.id, variable, &begin) != NC_NOERR) return;
  const schema::Dataset& dataset = dataset_of(selection);
  std::uint64_t last = 0;
  for (std::size_t d = 0; d < selection.box.dimensions; ++d) {
    last = last * static_cast<std::uint64_t>(dataset.shape[d]) + selection.box.start[d] +
           selection.box.extent[d] - 1;
  }
  const std::uint64_t end =
      static_cast<std::uint64_t>(begin) + (last + 1) * pattern::element_bytes(dataset.type);
  open.written_end = std::max(open.written_end, end);
}

/// Open MPI reports a write that storage refused as a short one, and PnetCDF 1.12 does not look how
/// much was written. So a closed file is looked at, whether it reaches as far as it must.
int Pnetcdf::find_loss(const OpenPnetcdf& open) {
  Identity found;
  if (look_up(open.at, open.name.c_str(), found) != 0 || found.bytes >= open.written_end) return 0;
  // A remote file system may have remembered an earlier size: it asks again when a file is opened.
  const int unknown = look_at(open.at, open.name.c_str(), OpenMode::kRead, found);
  if (unknown != 0 || found.bytes >= open.written_end) return 0;
  complaint_ = fmt::format(
      "the file has {} bytes instead of at least {}: writes failed, and neither PnetCDF nor the "
      "MPI library says so",
      found.bytes, open.written_end);
  return base::is_full(path_of_open(open).c_str()) ? ENOSPC : EIO;
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
  const int error = note(writes ? put(open.id, variable, selection.start.data(),
                                      selection.extent.data(), request.data, elements, type)
                                : get(open.id, variable, selection.start.data(),
                                      selection.extent.data(), request.data, elements, type));
  if (writes && error == 0 && request.bytes > 0) note_written(open, selection, variable);
  return error;
}

int Pnetcdf::begin(Handle file, schema::Direction direction, const Request& request,
                   std::uint32_t tag) {
  OpenPnetcdf& open = files()[file];
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
  if (direction == schema::Direction::kWrite) note_written(open, selection, variable);
  open.begun.push_back(begun);
  open.tags.push_back({tag, {0, request.bytes, 0}});
  return 0;
}

// The library does what was begun when it is waited for, all of it in one call.
std::size_t Pnetcdf::reap(std::span<Done> out, std::uint64_t /*until_ns*/) {
  OpenPnetcdf* open = files().find([](const OpenPnetcdf& each) { return !each.tags.empty(); });
  if (open == nullptr) return 0;
  if (!open->begun.empty()) {
    std::vector<int> results(open->begun.size(), NC_NOERR);
    const int result = ncmpi_wait(open->id, static_cast<int>(open->begun.size()),
                                  open->begun.data(), results.data());
    const std::uint64_t now = clock().now_ns();
    for (std::size_t i = 0; i < results.size(); ++i) {
      const int error = note(results[i] != NC_NOERR ? results[i] : result);
      Completion& completion = open->tags[i].completion;
      completion = {now, error != 0 ? 0 : completion.bytes, error};
    }
    open->begun.clear();
  }
  const std::size_t count = std::min(out.size(), open->tags.size());
  std::copy_n(open->tags.begin(), count, out.begin());
  open->tags.erase(open->tags.begin(), open->tags.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

}  // namespace

const Description& pnetcdf_description();
const Entry& pnetcdf_entry();
const Entry& pnetcdf_entry() {
  static const Entry entry{
      pnetcdf_description().options, pnetcdf_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        const bool fill = boolean_option(pnetcdf_entry(), options, "fill");
        return std::make_unique<Pnetcdf>(environment, fill);
      },
      true, nullptr, nullptr,
      // The library's own words begin with a date and the names of its branches.
      [] { return std::string("PnetCDF " PNETCDF_VERSION); }};
  return entry;
}

}  // namespace venturi::backend

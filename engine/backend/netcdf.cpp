// netCDF: boxes of variables through one process; where ranks share a file, one writes for all.
#include <fcntl.h>
#include <fmt/format.h>
#include <netcdf.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/gather.hpp"
#include "backend/library_names.hpp"
#include "backend/netcdf_type.hpp"

namespace venturi::backend {
namespace {

using schema::ElementType;

static_assert(netcdf_type(ElementType::kF64) == NC_DOUBLE &&
              netcdf_type(ElementType::kF32) == NC_FLOAT &&
              netcdf_type(ElementType::kI64) == NC_INT64 &&
              netcdf_type(ElementType::kI32) == NC_INT &&
              netcdf_type(ElementType::kI16) == NC_SHORT &&
              netcdf_type(ElementType::kI8) == NC_BYTE);

std::string version_text() {
  const std::string version = nc_inq_libvers();
  return "netCDF " + version.substr(0, version.find(' '));
}

/// The kind of file that an option asks for.
int mode_of(const std::string& format) {
  if (format == "netcdf4") return NC_NETCDF4;
  return format == "cdf2" ? NC_64BIT_OFFSET : NC_64BIT_DATA;
}

/// One open file: the library's number, and the first variable of each entry of the datasets;
/// copies have consecutive numbers.
struct OpenNetcdf {
  int id = -1;
  std::vector<int> variables;
};

class Netcdf final : public LibraryNames<OpenNetcdf> {
 public:
  Netcdf(const Environment& environment, std::string format, bool fill)
      : LibraryNames(environment), format_(std::move(format)), fill_(fill) {}

  int close(Handle file) override {
    const int error = note(nc_close(std::exchange(at(file).id, -1)));
    const int closed = DescriptorNames::close(file);
    return error != 0 ? error : closed;
  }
  int sync(Handle file, schema::SyncMode mode) override {
    if (mode == schema::SyncMode::kNone) return 0;
    // What the library keeps back would be left out of it.
    if (mode == schema::SyncMode::kFileSystem) return ENOTSUP;
    if (const int error = note(nc_sync(at(file).id))) return error;
    return DescriptorNames::sync(file, mode);
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const int error = move(at(file), direction, requests[i]);
      completions[i] = {clock().now_ns(), error != 0 ? 0 : requests[i].bytes, error};
      if (completions[i].bytes != requests[i].bytes) return i + 1;
    }
    return requests.size();
  }

  [[nodiscard]] std::vector<schema::Fact> facts(Handle file) const override {
    std::vector<schema::Fact> facts = DescriptorNames::facts(file);
    facts.push_back({"library", version_text()});
    facts.push_back({"format", format_});
    return facts;
  }
  [[nodiscard]] const char* hint(int error) const noexcept override {
    return complaint_.empty() ? DescriptorNames::hint(error) : complaint_.c_str();
  }

 protected:
  int open_content(int descriptor, OpenMode mode, bool is_new, OpenNetcdf& open) override;
  int make_file(const std::string& path, OpenNetcdf& open, int& descriptor) override;

 private:
  /// The errno of a result: the library's own numbers are negative.
  int note(int result) {
    if (result == NC_NOERR) return 0;
    complaint_ = fmt::format("netCDF says: {}", nc_strerror(result));
    if (result > 0) return result;
    if (result == NC_EEXIST) return EEXIST;
    return result == NC_EINVALCOORDS || result == NC_EEDGE || result == NC_EVARSIZE ||
                   result == NC_EBADTYPE
               ? EINVAL
               : EIO;
  }

  int define(OpenNetcdf& open);
  int define(OpenNetcdf& open, const schema::Dataset& dataset);
  int find(OpenNetcdf& open);
  int move(OpenNetcdf& open, schema::Direction direction, const Request& request);

  std::string format_;
  bool fill_;
  std::string complaint_;
};

int Netcdf::open_content(int descriptor, OpenMode mode, bool is_new, OpenNetcdf& open) {
  complaint_.clear();
  // The very file that was opened, whatever its name means by now.
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  const int flags = mode == OpenMode::kRead ? NC_NOWRITE : NC_WRITE;
  int error = note(is_new ? nc_create(path.c_str(), NC_CLOBBER | mode_of(format_), &open.id)
                          : nc_open(path.c_str(), flags, &open.id));
  if (error != 0) return error;
  error = is_new ? define(open) : find(open);
  if (error != 0) nc_abort(std::exchange(open.id, -1));
  return error;
}

int Netcdf::make_file(const std::string& path, OpenNetcdf& open, int& descriptor) {
  complaint_.clear();
  if (const int error = note(nc_create(path.c_str(), NC_NOCLOBBER | mode_of(format_), &open.id))) {
    return error;
  }
  int error = define(open);
  // The library tells nobody its own; the name was taken a moment ago, in a directory of ours.
  if (error == 0) {
    descriptor = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) error = errno;
  }
  if (error != 0) nc_abort(std::exchange(open.id, -1));
  return error;
}

int Netcdf::define(OpenNetcdf& open) {
  if (!fill_) {
    int before = 0;
    if (const int error = note(nc_set_fill(open.id, NC_NOFILL, &before))) return error;
  }
  for (const schema::Dataset& dataset : plan().datasets) {
    if (const int error = define(open, dataset)) return error;
  }
  return note(nc_enddef(open.id));
}

int Netcdf::define(OpenNetcdf& open, const schema::Dataset& dataset) {
  std::vector<int> dimensions;
  for (std::size_t d = 0; d < dataset.shape.size(); ++d) {
    const std::string name = fmt::format("{}_dim{}", dataset.name, d);
    const auto extent = static_cast<std::size_t>(dataset.shape[d]);
    if (const int error =
            note(nc_def_dim(open.id, name.c_str(), extent, &dimensions.emplace_back()))) {
      return error;
    }
  }
  const std::vector<std::size_t> chunk(dataset.chunk.begin(), dataset.chunk.end());
  for (std::uint64_t copy = 0; copy < static_cast<std::uint64_t>(dataset.copies); ++copy) {
    int variable = -1;
    int result = nc_def_var(open.id, dataset_name(dataset, copy).c_str(), netcdf_type(dataset.type),
                            static_cast<int>(dimensions.size()), dimensions.data(), &variable);
    if (result == NC_NOERR && !chunk.empty()) {
      result = nc_def_var_chunking(open.id, variable, NC_CHUNKED, chunk.data());
    }
    if (result == NC_NOERR && (dataset.shuffle || dataset.deflate > 0)) {
      result = nc_def_var_deflate(open.id, variable, dataset.shuffle ? 1 : 0,
                                  dataset.deflate > 0 ? 1 : 0, static_cast<int>(dataset.deflate));
    }
    if (const int error = note(result)) return error;
    if (copy == 0) open.variables.push_back(variable);
  }
  return 0;
}

int Netcdf::find(OpenNetcdf& open) {
  for (const schema::Dataset& dataset : plan().datasets) {
    int& variable = open.variables.emplace_back(-1);
    const std::string name = dataset_name(dataset, 0);
    if (const int error = note(nc_inq_varid(open.id, name.c_str(), &variable))) return error;
  }
  return 0;
}

int Netcdf::move(OpenNetcdf& open, schema::Direction direction, const Request& request) {
  const pattern::Box box = box_of(request);
  if (box.dataset >= open.variables.size()) return EINVAL;
  const int variable = open.variables[box.dataset] + static_cast<int>(box.copy);
  std::array<std::size_t, pattern::Box::kMostDimensions> start{};
  std::array<std::size_t, pattern::Box::kMostDimensions> extent{};
  for (std::size_t d = 0; d < box.dimensions; ++d) {
    start[d] = box.start[d];
    extent[d] = box.extent[d];
  }
  return note(direction == schema::Direction::kWrite
                  ? nc_put_vara(open.id, variable, start.data(), extent.data(), request.data)
                  : nc_get_vara(open.id, variable, start.data(), extent.data(), request.data));
}

}  // namespace

const Description& netcdf_description();
const Entry& netcdf_entry();
const Entry& netcdf_entry() {
  static const Entry entry{
      netcdf_description().options,
      netcdf_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        const Entry& own = netcdf_entry();
        auto storage = std::make_unique<Netcdf>(environment, word_option(own, options, "format"),
                                                !boolean_option(own, options, "no_fill"));
        if (!opens_together(*environment.file)) return storage;
        return make_gathered(std::move(storage), environment);
      },
      true,
      opens_together,
      nullptr,
      version_text};
  return entry;
}

}  // namespace venturi::backend

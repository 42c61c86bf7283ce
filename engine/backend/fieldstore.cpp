// Fields by key: what FDB does to a file system, with its libraries left out.
//
// A place in the file is the key of a field, and nothing else: where its bytes are, only the index
// knows. A writer keeps its fields in memory until a sync, which lets all of them leave with one
// write to the end of its data file, then a page of its index, then one record at the end of the
// table of contents that all writers share. Each is persistent before the next is begun, so what a
// reader finds is there. A reader that does not know a key reads what is new in the table.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/descriptor_names.hpp"
#include "backend/grib.hpp"
#include "backend/move_all.hpp"
#include "backend/table.hpp"
#include "base/beneath.hpp"

namespace venturi::backend {
namespace {

constexpr std::uint64_t kPageBytes = 65'536;
constexpr std::uint64_t kMostBuffered = std::uint64_t{1} << 40U;
constexpr std::string_view kMagic = "VENTOC1";
constexpr std::string_view kData = ".data";
constexpr std::string_view kIndex = ".index";
constexpr std::string_view kGrib = "grib";
constexpr mode_t kMode = 0644;

/// A record of the table of contents: fields that a writer made persistent together.
struct Chapter {
  std::array<char, 8> magic{};
  std::uint64_t index_offset = 0;
  /// In whole pages.
  std::uint64_t index_bytes = 0;
  std::uint64_t fields = 0;
  /// Behind the table's own name it is that of the writer's two files.
  std::array<char, 992> writer{};
};
static_assert(sizeof(Chapter) == 1024);

/// A record of an index.
struct Line {
  std::uint64_t key = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(Line) == 32);

/// What this process puts into a store.
struct Writer {
  std::string name;
  base::Descriptor data;
  base::Descriptor index;
  std::vector<std::byte> buffer;
  std::vector<Line> lines;
  std::uint64_t data_bytes = 0;
  std::uint64_t index_bytes = 0;
};

/// Where a field is.
struct Place {
  std::size_t source = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A writer's data file, as a reader sees it; opened when it is needed.
struct Source {
  std::string name;
  base::Descriptor data;
};

/// An open store.
struct Store {
  std::string name;
  Writer writer;
  std::unordered_map<std::uint64_t, Place> places;
  std::vector<Source> sources;
  /// How much of the table of contents is known.
  std::uint64_t known_bytes = 0;
};

class FieldStore final : public DescriptorNames {
 public:
  FieldStore(const Environment& environment, std::uint64_t buffer_bytes, bool as_grib)
      : DescriptorNames(environment, {.flags = O_APPEND}),
        root_(::open(environment.root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
        plan_(environment.file),
        made_(environment.made),
        rank_(environment.world_rank),
        buffer_bytes_(buffer_bytes),
        as_grib_(as_grib) {}

  int open(Directory at, const char* name, OpenMode mode, Handle& out) override {
    if (at != kRoot) return ENOTSUP;
    const int error = DescriptorNames::open(at, name, mode, out);
    if (error != 0) return error;
    auto store = std::make_unique<Store>();
    store->name = name;
    stores_[out] = std::move(store);
    return 0;
  }
  int close(Handle file) override {
    const int error = flush(file, schema::SyncMode::kFlush);
    stores_.erase(file);
    const int closed = DescriptorNames::close(file);
    return error != 0 ? error : closed;
  }
  int sync(Handle file, schema::SyncMode mode) override {
    if (mode == schema::SyncMode::kNone) return 0;
    if (mode != schema::SyncMode::kFileSystem) return flush(file, mode);
    for (const auto& [each, store] : stores_) {
      if (const int error = flush(each, schema::SyncMode::kFlush)) return error;
    }
    return DescriptorNames::sync(file, mode);
  }
  /// Only the table of contents has the name, and the fields would stay.
  int unlink(Directory, const char*) override { return ENOTSUP; }
  int set_status(Directory, const char*, StatusPart) override { return ENOTSUP; }
  int rename(Directory, const char*, const char*) override { return ENOTSUP; }
  int replace(Directory, const char*, const char*) override { return ENOTSUP; }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    Store& store = *stores_.at(file);
    const bool puts = direction == schema::Direction::kWrite;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const int error = puts ? put(store, requests[i]) : get(store, file, requests[i]);
      completions[i] = {clock().now_ns(), error != 0 ? 0 : requests[i].bytes, error};
      if (error != 0) return i + 1;
    }
    return requests.size();
  }

  [[nodiscard]] std::vector<std::string> parts(const std::string& name) const override;

  [[nodiscard]] const char* hint(int error) const noexcept override {
    return complaint_ != nullptr ? complaint_ : DescriptorNames::hint(error);
  }

 private:
  int put(Store& store, const Request& request);
  int frame(std::span<std::byte> field, std::uint64_t key);
  int get(Store& store, Handle toc, const Request& request);
  int flush(Handle file, schema::SyncMode mode);
  int begin_writing(Store& store);
  int make(const std::string& name, base::Descriptor& out);
  int empty_buffer(Writer& writer);
  int write_index(Writer& writer, schema::SyncMode mode, Chapter& chapter);
  int learn(Store& store, Handle toc);
  int learn(Store& store, const Chapter& chapter);
  int complain(int error, const char* what) noexcept {
    complaint_ = what;
    return error;
  }

  base::Descriptor root_;
  const schema::File* plan_;
  MadeFile made_;
  std::size_t rank_;
  std::uint64_t buffer_bytes_;
  bool as_grib_;
  /// Of the size that fields had last.
  std::optional<Grib> grib_;
  /// Writers that this process began, so that each has names of its own.
  std::uint64_t begun_ = 0;
  const char* complaint_ = nullptr;
  /// By the table's descriptor.
  std::unordered_map<Handle, std::unique_ptr<Store>> stores_;
};

int FieldStore::make(const std::string& name, base::Descriptor& out) {
  out = base::Descriptor(
      base::open_beneath(root_.get(), name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kMode));
  if (!out) return errno;
  Identity identity;
  if (const int error = base::identify(out.get(), "", identity)) return error;
  made_(*plan_, name, identity);
  return 0;
}

int FieldStore::begin_writing(Store& store) {
  Writer& writer = store.writer;
  writer.name = fmt::format(".{:08}-{}", rank_, begun_++);
  if (const int error = make(fmt::format("{}{}{}", store.name, writer.name, kData), writer.data)) {
    return error;
  }
  return make(fmt::format("{}{}{}", store.name, writer.name, kIndex), writer.index);
}

int FieldStore::put(Store& store, const Request& request) {
  Writer& writer = store.writer;
  if (!writer.data) {
    if (const int error = begin_writing(store)) return error;
  }
  if (!writer.buffer.empty() && writer.buffer.size() + request.bytes > buffer_bytes_) {
    if (const int error = empty_buffer(writer)) return error;
  }
  writer.lines.push_back(
      {request.offset, writer.data_bytes + writer.buffer.size(), request.bytes, 0});
  writer.buffer.insert(writer.buffer.end(), request.data, request.data + request.bytes);
  if (!as_grib_) return 0;
  return frame(std::span(writer.buffer).last(request.bytes), request.offset);
}

int FieldStore::frame(std::span<std::byte> field, std::uint64_t key) {
  complaint_ = nullptr;
  if (!grib_ || grib_->bytes() != field.size()) grib_ = Grib::of(field.size());
  if (!grib_) return complain(EINVAL, "a GRIB message has 893 bytes or, from 900 on, any number");
  grib_->frame(field, static_cast<std::uint32_t>(key / field.size()));
  return 0;
}

int FieldStore::empty_buffer(Writer& writer) {
  const int error = write_at(writer.data.get(), writer.buffer, writer.data_bytes);
  if (error != 0) return error;
  writer.data_bytes += writer.buffer.size();
  writer.buffer.clear();
  return 0;
}

int FieldStore::write_index(Writer& writer, schema::SyncMode mode, Chapter& chapter) {
  const std::uint64_t used = writer.lines.size() * sizeof(Line);
  std::vector<std::byte> pages((used + kPageBytes - 1) / kPageBytes * kPageBytes);
  std::memcpy(pages.data(), writer.lines.data(), used);
  chapter.index_offset = writer.index_bytes;
  chapter.index_bytes = pages.size();
  chapter.fields = writer.lines.size();
  if (const int error = write_at(writer.index.get(), pages, writer.index_bytes)) return error;
  if (const int error = DescriptorNames::sync(writer.index.get(), mode)) return error;
  writer.index_bytes += pages.size();
  return 0;
}

int FieldStore::flush(Handle file, schema::SyncMode mode) {
  Store& store = *stores_.at(file);
  Writer& writer = store.writer;
  if (writer.lines.empty()) return 0;
  if (const int error = empty_buffer(writer)) return error;
  if (const int error = DescriptorNames::sync(writer.data.get(), mode)) return error;
  Chapter chapter;
  if (const int error = write_index(writer, mode, chapter)) return error;
  std::copy(kMagic.begin(), kMagic.end(), chapter.magic.begin());
  std::copy(writer.name.begin(), writer.name.end(), chapter.writer.begin());
  // It is open for appending, so records of several writers do not meet.
  if (const int error =
          write_at(static_cast<int>(file), std::as_bytes(std::span(&chapter, 1)), 0)) {
    return error;
  }
  writer.lines.clear();
  return DescriptorNames::sync(file, mode);
}

int FieldStore::get(Store& store, Handle toc, const Request& request) {
  complaint_ = nullptr;
  auto found = store.places.find(request.offset);
  if (found == store.places.end()) {
    if (const int error = learn(store, toc)) return error;
    found = store.places.find(request.offset);
  }
  if (found == store.places.end()) {
    return complain(ENOENT,
                    "no field has this key: in a field store each write puts one field, whose key "
                    "is the place in the file, and readers find it after a sync of its writer");
  }
  const Place& place = found->second;
  if (place.bytes < request.bytes) {
    return complain(EINVAL, "the field has fewer bytes: read what one write put, no more");
  }
  Source& source = store.sources[place.source];
  if (!source.data) {
    source.data = base::Descriptor(
        base::open_beneath(root_.get(), (store.name + source.name + std::string(kData)).c_str(),
                           O_RDONLY | O_CLOEXEC));
    if (!source.data) return errno;
  }
  return read_at(source.data.get(), {request.data, request.bytes}, place.offset);
}

int FieldStore::learn(Store& store, Handle toc) {
  Identity identity;
  if (const int error = DescriptorNames::identify(toc, identity)) return error;
  while (store.known_bytes + sizeof(Chapter) <= identity.bytes) {
    Chapter chapter;
    if (const int error =
            read_at(static_cast<int>(toc), std::as_writable_bytes(std::span(&chapter, 1)),
                    store.known_bytes)) {
      return error;
    }
    if (const int error = learn(store, chapter)) return error;
    store.known_bytes += sizeof(Chapter);
  }
  return 0;
}

int FieldStore::learn(Store& store, const Chapter& chapter) {
  const std::string_view magic(chapter.magic.data(), kMagic.size());
  const bool has_room = chapter.fields <= chapter.index_bytes / sizeof(Line);
  if (magic != kMagic || !has_room || chapter.writer.back() != '\0') {
    return complain(EIO, "the table of contents is damaged");
  }
  const std::string writer(chapter.writer.data());
  const auto known = std::find_if(store.sources.begin(), store.sources.end(),
                                  [&](const Source& each) { return each.name == writer; });
  const auto source = static_cast<std::size_t>(known - store.sources.begin());
  if (known == store.sources.end()) store.sources.push_back({writer, {}});
  const base::Descriptor index(base::open_beneath(
      root_.get(), (store.name + writer + std::string(kIndex)).c_str(), O_RDONLY | O_CLOEXEC));
  if (!index) return errno;
  Identity identity;
  if (const int error = base::identify(index.get(), "", identity)) return error;
  if (chapter.index_bytes > identity.bytes) return complain(EIO, "an index is cut off");
  std::vector<std::byte> pages(chapter.index_bytes);
  if (const int error = read_at(index.get(), pages, chapter.index_offset)) return error;
  for (std::uint64_t i = 0; i < chapter.fields; ++i) {
    Line line;
    std::memcpy(&line, pages.data() + i * sizeof(Line), sizeof(Line));
    store.places[line.key] = {source, line.offset, line.bytes};
  }
  return 0;
}

std::vector<std::string> FieldStore::parts(const std::string& name) const {
  std::vector<std::string> found{name};
  const std::size_t slash = name.rfind('/');
  const std::string parent = slash == std::string::npos ? "" : name.substr(0, slash + 1);
  const std::string own = name.substr(parent.size()) + ".";
  const int directory = base::open_beneath(root_.get(), parent.empty() ? "." : parent.c_str(),
                                           O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return found;
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::fdopendir(directory), &::closedir);
  if (!names) {
    ::close(directory);
    return found;
  }
  while (const dirent* entry = ::readdir(names.get())) {
    const std::string_view each = entry->d_name;
    const bool is_part = each.ends_with(kData) || each.ends_with(kIndex);
    if (is_part && each.starts_with(own)) found.push_back(parent + std::string(each));
  }
  return found;
}

}  // namespace

const Description& fieldstore_description();
const Description& fieldstore_description() {
  static const Description description{
      .level = kLibrary,
      .addressing = kKeys,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kSync, kBytes},
      .options = {{"buffer_bytes", "bytes", "1 GiB",
                   "fields that a writer keeps in memory until a sync; more leave with a write of "
                   "their own",
                   "1 B to 1 TiB", 1.0, static_cast<double>(kMostBuffered)},
                  {"payload", "word", "any",
                   "what fields are: any bytes, or GRIB messages of their size, whose level is "
                   "their number",
                   "any|grib"}},
      .buffers = true,
      .files_per_writer = 2,
      .container = "a field store",
      .pieces = "fields",
      .format = {.read_after_sync = true},
  };
  return description;
}

const Entry& fieldstore_entry();
const Entry& fieldstore_entry() {
  static const Entry entry{
      fieldstore_description().options, fieldstore_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        const bool as_grib = word_option(fieldstore_entry(), options, "payload") == kGrib;
        if (as_grib && environment.file->content.verify) {
          throw base::plan_error("options.payload",
                                 "a GRIB message has no room for the stamps of 'verify'",
                                 "leave out one of both");
        }
        return std::make_unique<FieldStore>(
            environment, bytes_option(fieldstore_entry(), options, "buffer_bytes"), as_grib);
      }};
  return entry;
}

}  // namespace venturi::backend

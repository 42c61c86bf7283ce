// LIME, the container of lattice QCD: named records, one of which holds the lattice. Where ranks
// share a file, one does the I/O and the others hand it their sites, as QIO does.
//
// Records, as SciDAC's libraries write them to a single file: the private and the user's XML of the
// file in one message, those of the record with its data and its checksums in another. Numbers are
// big-endian.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/gather.hpp"
#include "backend/library_names.hpp"
#include "backend/site_sums.hpp"
#include "base/error.hpp"

namespace venturi::backend {
namespace {

constexpr std::uint32_t kMagic = 0x456789ab;
constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kBegins = 0x8000;
constexpr std::uint16_t kEnds = 0x4000;
constexpr std::size_t kTypeBytes = 128;
constexpr std::size_t kHeaderBytes = 144;
constexpr std::uint64_t kAlignment = 8;

constexpr std::string_view kIldgData = "ildg-binary-data";
constexpr std::string_view kScidacData = "scidac-binary-data";

using Header = std::array<std::byte, kHeaderBytes>;

template <class Number>
void put(std::byte* to, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    to[i] = static_cast<std::byte>(number >> (8 * (sizeof(Number) - 1 - i)));
  }
}

template <class Number>
Number take(const std::byte* from) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number = static_cast<Number>(number << 8U | std::to_integer<Number>(from[i]));
  }
  return number;
}

Header header_of(std::string_view type, std::uint16_t flags, std::uint64_t bytes) {
  Header header{};
  put(header.data(), kMagic);
  put(&header[4], kVersion);
  put(&header[6], flags);
  put(&header[8], bytes);
  std::memcpy(&header[kHeaderBytes - kTypeBytes], type.data(), type.size());
  return header;
}

std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

constexpr std::string_view kXml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// A record of text, and the bytes of 0 up to the next one.
void add_record(std::vector<std::byte>& to, std::string_view type, std::uint16_t flags,
                std::string_view content) {
  const Header header = header_of(type, flags, content.size());
  to.insert(to.end(), header.begin(), header.end());
  const auto bytes = std::as_bytes(std::span(content));
  to.insert(to.end(), bytes.begin(), bytes.end());
  to.resize(padded(to.size()));
}

/// Sites along each dimension, and what they have at each site.
struct Lattice {
  std::array<std::uint64_t, 4> extents{};
  std::uint64_t site_bytes = 0;
};

/// The lattice that an option names, as the file's bytes fill it; nothing without the option.
std::optional<Lattice> lattice_of(const std::string& text, const schema::File& file) {
  if (text.empty()) return std::nullopt;
  Lattice lattice;
  std::istringstream numbers(text);
  for (std::uint64_t& extent : lattice.extents) numbers >> extent;
  std::string more;
  std::uint64_t sites = 1;
  bool fine = !numbers.fail() && !(numbers >> more);
  for (const std::uint64_t extent : lattice.extents) {
    fine = fine && extent != 0 && !__builtin_mul_overflow(sites, extent, &sites);
  }
  if (!fine) {
    throw base::plan_error("options.lattice", fmt::format("'{}' are no extents", text),
                           "say four numbers of sites: '8 8 8 16'");
  }
  const auto bytes = file.datasets.empty()
                         ? std::uint64_t{0}
                         : static_cast<std::uint64_t>(file.datasets.front().shape.front());
  if (bytes % sites != 0) {
    throw base::plan_error(
        "options.lattice",
        fmt::format("{} bytes are not as many for each of {} sites", bytes, sites),
        "let the program write the whole lattice");
  }
  lattice.site_bytes = bytes / sites;
  return lattice;
}

std::string extents_text(const Lattice& lattice) {
  return fmt::format("{} {} {} {} ", lattice.extents[0], lattice.extents[1], lattice.extents[2],
                     lattice.extents[3]);
}

/// The private XML of the file and of the record, and the format of ILDG.
std::string file_xml(const std::optional<Lattice>& lattice) {
  const std::string where =
      lattice ? fmt::format("<spacetime>4</spacetime><dims>{}</dims>", extents_text(*lattice)) : "";
  return fmt::format("{}<scidacFile><version>1.1</version>{}<volfmt>0</volfmt></scidacFile>", kXml,
                     where);
}

/// A gauge field has four matrices at each site, any other field one thing.
std::string record_xml(const std::optional<Lattice>& lattice, bool is_gauge) {
  std::string what;
  if (lattice) {
    const std::uint64_t count = is_gauge && lattice->site_bytes % 4 == 0 ? 4 : 1;
    what = fmt::format(
        "<datatype>{}</datatype><precision>D</precision><colors>3</colors>{}"
        "<typesize>{}</typesize><datacount>{}</datacount>",
        is_gauge ? "QDP_D3_ColorMatrix" : "QDP_D3_DiracPropagator",
        is_gauge ? "" : "<spins>4</spins>", lattice->site_bytes / count, count);
  }
  return fmt::format(
      "{}<scidacRecord><version>1.1</version><recordtype>0</recordtype>{}</scidacRecord>", kXml,
      what);
}

std::string ildg_xml(const std::optional<Lattice>& lattice) {
  std::string what;
  if (lattice) {
    const auto& [x, y, z, t] = lattice->extents;
    what = fmt::format("<precision>64</precision><lx>{}</lx><ly>{}</ly><lz>{}</lz><lt>{}</lt>", x,
                       y, z, t);
  }
  return fmt::format("{}<ildgFormat><version>1.0</version><field>su3gauge</field>{}</ildgFormat>",
                     kXml, what);
}

/// What stands before the data, up to and with the header of its record.
std::vector<std::byte> preamble(std::string_view data_type, std::uint64_t data_bytes,
                                const std::optional<Lattice>& lattice) {
  const bool is_gauge = data_type == kIldgData;
  std::vector<std::byte> text;
  add_record(text, "scidac-private-file-xml", kBegins, file_xml(lattice));
  add_record(text, "scidac-file-xml", kEnds, fmt::format("{}<title>Venturi</title>", kXml));
  add_record(text, "scidac-private-record-xml", kBegins, record_xml(lattice, is_gauge));
  add_record(text, "scidac-record-xml", 0, fmt::format("{}<title>lattice</title>", kXml));
  if (is_gauge) add_record(text, "ildg-format", 0, ildg_xml(lattice));
  // Where the lattice is known, its checksums end the message.
  const Header last = header_of(data_type, lattice ? 0 : kEnds, data_bytes);
  text.insert(text.end(), last.begin(), last.end());
  return text;
}

/// What stands behind the data.
std::vector<std::byte> checksum_record(const SiteSums& sums) {
  std::vector<std::byte> text;
  add_record(text, "scidac-checksum", kEnds,
             fmt::format("{}<scidacChecksum><version>1.0</version><suma>{:08x}</suma>"
                         "<sumb>{:08x}</sumb></scidacChecksum>",
                         kXml, sums.first(), sums.second()));
  return text;
}

/// Where the lattice is in an open file.
struct Data {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  /// The file is new or was written to, so the checksums have to be written.
  bool changed = false;
  /// Of what was written in the order of the file from its beginning on; else nothing.
  std::optional<SiteSums> sums = {};
};

class Lime final : public LibraryNames<Data> {
 public:
  Lime(const Environment& environment, std::string record, std::optional<Lattice> lattice)
      : LibraryNames(environment), record_(std::move(record)), lattice_(lattice) {}

  int close(Handle file) override {
    const int error = end(static_cast<int>(file), at(file));
    const int closed = DescriptorNames::close(file);
    return error != 0 ? error : closed;
  }

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    Data& data = at(file);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const int error = move(static_cast<int>(file), data, direction, requests[i]);
      completions[i] = {clock().now_ns(), error != 0 ? 0 : requests[i].bytes, error};
      if (error != 0) return i + 1;
    }
    return requests.size();
  }

  [[nodiscard]] const char* hint(int error) const noexcept override {
    return complaint_ != nullptr ? complaint_ : DescriptorNames::hint(error);
  }

 protected:
  int open_content(int descriptor, OpenMode mode, bool is_new, Data& out) override;

 private:
  int complain(const char* what) noexcept {
    complaint_ = what;
    return EINVAL;
  }
  int begin(int descriptor, Data& data) const;
  int find(int descriptor, Data& data);
  int move(int file, Data& data, schema::Direction direction, const Request& request);
  int end(int file, Data& data);
  static int sum_up(int file, const Data& data, SiteSums& sums);

  std::string record_;
  std::optional<Lattice> lattice_;
  const char* complaint_ = nullptr;
};

int Lime::open_content(int descriptor, OpenMode, bool is_new, Data& out) {
  complaint_ = nullptr;
  if (!plan().foreign && !takes_bytes(plan())) {
    return complain("a record of LIME holds bytes: leave out 'datasets'");
  }
  return is_new ? begin(descriptor, out) : find(descriptor, out);
}

int Lime::begin(int descriptor, Data& data) const {
  data.bytes = static_cast<std::uint64_t>(plan().datasets.front().shape.front());
  const std::vector<std::byte> text = preamble(record_, data.bytes, lattice_);
  data.begin = text.size();
  data.changed = true;
  if (lattice_) data.sums.emplace(lattice_->site_bytes);
  const ssize_t written = ::pwrite(descriptor, text.data(), text.size(), 0);
  if (written != static_cast<ssize_t>(text.size())) return written < 0 ? errno : ENOSPC;
  // The padding is there from the beginning on.
  const auto end = static_cast<off_t>(data.begin + padded(data.bytes));
  return ::ftruncate(descriptor, end) == 0 ? 0 : errno;
}

int Lime::find(int descriptor, Data& data) {
  Identity identity;
  if (const int error = identify(descriptor, identity)) return error;
  Header header;
  for (std::uint64_t at = 0; at + kHeaderBytes <= identity.bytes;) {
    const ssize_t got = ::pread(descriptor, header.data(), kHeaderBytes, static_cast<off_t>(at));
    if (got != static_cast<ssize_t>(kHeaderBytes)) return got < 0 ? errno : EIO;
    if (take<std::uint32_t>(header.data()) != kMagic) break;
    const auto bytes = take<std::uint64_t>(&header[8]);
    std::array<char, kTypeBytes + 1> type{};
    std::memcpy(type.data(), &header[kHeaderBytes - kTypeBytes], kTypeBytes);
    at += kHeaderBytes;
    if (type.data() == kIldgData || type.data() == kScidacData) {
      data.begin = at;
      data.bytes = bytes;
      return 0;
    }
    if (bytes > identity.bytes - at) break;
    at += padded(bytes);
  }
  return complain("this is no LIME file with a record of binary data");
}

int Lime::move(int file, Data& data, schema::Direction direction, const Request& request) {
  const std::uint64_t offset = box_of(request).start[0];
  if (offset + request.bytes > data.bytes) return EINVAL;
  const bool writes = direction == schema::Direction::kWrite;
  if (writes) data.changed = true;
  if (writes && data.sums && data.sums->bytes() == offset) {
    data.sums->add({request.data, request.bytes});
  } else if (writes) {
    data.sums.reset();
  }
  for (std::uint64_t done = 0; done < request.bytes;) {
    const std::uint64_t most = std::min(request.bytes - done, kMostBytes);
    const auto place = static_cast<off_t>(data.begin + offset + done);
    const ssize_t moved = writes ? ::pwrite(file, request.data + done, most, place)
                                 : ::pread(file, request.data + done, most, place);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EIO;
    done += static_cast<std::uint64_t>(moved);
  }
  return 0;
}

/// Puts the checksums behind the data. What was not written in order is read again for them.
int Lime::end(int file, Data& data) {
  if (!lattice_ || !data.changed) return 0;
  if (!data.sums || data.sums->bytes() != data.bytes) {
    data.sums.emplace(lattice_->site_bytes);
    if (const int error = sum_up(file, data, *data.sums)) return error;
  }
  const std::vector<std::byte> text = checksum_record(*data.sums);
  const auto place = static_cast<off_t>(data.begin + padded(data.bytes));
  const ssize_t written = ::pwrite(file, text.data(), text.size(), place);
  if (written != static_cast<ssize_t>(text.size())) return written < 0 ? errno : ENOSPC;
  return 0;
}

int Lime::sum_up(int file, const Data& data, SiteSums& sums) {
  constexpr std::uint64_t kPieceBytes = 1U << 20U;
  std::vector<std::byte> piece(std::min(kPieceBytes, data.bytes));
  while (sums.bytes() < data.bytes) {
    const std::uint64_t wanted = std::min<std::uint64_t>(piece.size(), data.bytes - sums.bytes());
    const auto place = static_cast<off_t>(data.begin + sums.bytes());
    const ssize_t got = ::pread(file, piece.data(), wanted, place);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    sums.add(std::span(piece).first(static_cast<std::size_t>(got)));
  }
  return 0;
}

}  // namespace

const Description& lime_description();
const Description& lime_description() {
  static const Description description{
      .level = kLibrary,
      .addressing = kOfFormat,
      .capabilities = {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kDatasets, kCollective,
                       kBytes},
      .options = {{"record", "word", "scidac-binary-data",
                   "type of the record that holds the lattice: a field of SciDAC, or a gauge field "
                   "of ILDG",
                   "scidac-binary-data|ildg-binary-data"},
                  {"lattice", "text", "",
                   "sites along x, y, z and t; the file then names them and has the checksums of "
                   "its sites",
                   "four numbers: 8 8 8 16"}},
      .gathers = true,
      .format = {.shapes = false, .chunks = false},
  };
  return description;
}

const Entry& lime_entry();
const Entry& lime_entry() {
  static const Entry entry{
      lime_description().options, lime_description().capabilities,
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        auto storage = std::make_unique<Lime>(
            environment, word_option(lime_entry(), options, "record"),
            lattice_of(text_option(lime_entry(), options, "lattice"), *environment.file));
        if (!opens_together(*environment.file)) return storage;
        return make_gathered(std::move(storage), environment);
      },
      true, opens_together};
  return entry;
}

}  // namespace venturi::backend

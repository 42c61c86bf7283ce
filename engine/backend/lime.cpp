// LIME, the container of lattice QCD: named records, one of which holds the lattice. Where ranks
// share a file, one does the I/O and the others hand it their sites, as QIO does.
//
// Records, as SciDAC's libraries write them to a single file: the private and the user's XML of the
// file in one message, those of the record with its data in another. Numbers are big-endian.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/gather.hpp"
#include "backend/library_names.hpp"

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

/// What stands before the data, up to and with the header of its record.
std::vector<std::byte> preamble(std::string_view data_type, std::uint64_t data_bytes) {
  std::vector<std::byte> text;
  const auto add = [&](std::string_view type, std::uint16_t flags, std::string_view content) {
    const Header header = header_of(type, flags, content.size());
    text.insert(text.end(), header.begin(), header.end());
    const auto bytes = std::as_bytes(std::span(content));
    text.insert(text.end(), bytes.begin(), bytes.end());
    text.resize(padded(text.size()));
  };
  constexpr std::string_view kXml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
  const std::string xml(kXml);
  add("scidac-private-file-xml", kBegins,
      xml + "<scidacFile><version>1.1</version><volfmt>0</volfmt></scidacFile>");
  add("scidac-file-xml", kEnds, xml + "<title>Venturi</title>");
  add("scidac-private-record-xml", kBegins,
      xml + "<scidacRecord><version>1.1</version><recordtype>0</recordtype></scidacRecord>");
  add("scidac-record-xml", 0, xml + "<title>lattice</title>");
  if (data_type == kIldgData) {
    add("ildg-format", 0,
        xml + "<ildgFormat><version>1.0</version><field>su3gauge</field></ildgFormat>");
  }
  const Header last = header_of(data_type, kEnds, data_bytes);
  text.insert(text.end(), last.begin(), last.end());
  return text;
}

/// Where the lattice is in an open file.
struct Data {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

class Lime final : public LibraryNames<Data> {
 public:
  Lime(const Environment& environment, std::string record)
      : LibraryNames(environment), record_(std::move(record)) {}

  std::size_t submit(Handle file, schema::Direction direction, std::span<const Request> requests,
                     std::span<Completion> completions) override {
    const Data& data = at(file);
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
  static int move(int file, const Data& data, schema::Direction direction, const Request& request);

  std::string record_;
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
  const std::vector<std::byte> text = preamble(record_, data.bytes);
  data.begin = text.size();
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
      data = {at, bytes};
      return 0;
    }
    if (bytes > identity.bytes - at) break;
    at += padded(bytes);
  }
  return complain("this is no LIME file with a record of binary data");
}

int Lime::move(int file, const Data& data, schema::Direction direction, const Request& request) {
  const std::uint64_t offset = box_of(request).start[0];
  if (offset + request.bytes > data.bytes) return EINVAL;
  for (std::uint64_t done = 0; done < request.bytes;) {
    const std::uint64_t most = std::min(request.bytes - done, kMostBytes);
    const auto place = static_cast<off_t>(data.begin + offset + done);
    const ssize_t moved = direction == schema::Direction::kWrite
                              ? ::pwrite(file, request.data + done, most, place)
                              : ::pread(file, request.data + done, most, place);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EIO;
    done += static_cast<std::uint64_t>(moved);
  }
  return 0;
}

}  // namespace

const Entry& lime_entry();
const Entry& lime_entry() {
  static const Entry entry{
      {{"record", "word", "scidac-binary-data",
        "type of the record that holds the lattice: a field of SciDAC, or a gauge field of ILDG",
        "scidac-binary-data|ildg-binary-data"}},
      {kSharedFiles, kRandomAccess, kNames, kStripes, kSync, kDatasets, kCollective, kBytes},
      [](const Environment& environment,
         const std::vector<schema::Option>& options) -> std::unique_ptr<Backend> {
        auto storage =
            std::make_unique<Lime>(environment, word_option(lime_entry(), options, "record"));
        if (!opens_together(*environment.file)) return storage;
        return make_gathered(std::move(storage), environment);
      },
      true,
      opens_together};
  return entry;
}

}  // namespace venturi::backend

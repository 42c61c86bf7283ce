// What kernels of big data share: an input that is generated on each rank and lies in a file of the
// run's directory, and parts of the work that are timed apart.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/descriptor.hpp"
#include "kernel/kernel.hpp"

namespace venturi::kernel {

/// What is timed apart.
enum class Part : std::uint8_t { kRead, kCompute, kExchange, kWrite };

/// The description of a kernel of big data, with how many records it has.
[[nodiscard]] Description big_data_description(const char* about, const char* records);
/// The same of one whose number of records follows from options of its own, which come first.
[[nodiscard]] Description big_data_description(const char* about,
                                               std::vector<backend::OptionInfo> own);

/// Work that does not depend on storage: its figure is its amount in the time of computing and
/// exchanging.
struct CountedWork {
  const char* figure;
  const char* unit;
  double amount;
};

/// One kernel of big data on the ranks that measure. Record i of all is the same whatever their
/// number; a rank has those from `first` to `last`. All but the queries are collective.
class BigData {
 public:
  /// Writes record i behind what is there.
  using Generate = std::function<void(std::uint64_t record, std::string& out)>;
  /// Where the input comes from, and what it takes.
  struct Input {
    std::uint64_t records;
    Generate generate;
    /// A rank's memory as a multiple of its input, and what it needs beside that.
    std::uint64_t copies = 5;
    std::uint64_t more_bytes = 0;
  };

  /// Generates this rank's input, and writes it to storage.
  BigData(const Environment& environment, const std::string& name, const Input& input);
  /// The same of as many records as the option says.
  BigData(const Environment& environment, const std::string& name, const Generate& generate)
      : BigData(environment, name, {environment.settings.integer("records"), generate}) {}

  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  /// Where the records of any rank begin; of one behind the last, their number.
  [[nodiscard]] std::uint64_t first_of(std::size_t rank) const noexcept {
    return records_ * rank / environment_.group.size();
  }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  /// The input, after `read`.
  [[nodiscard]] std::string_view input() const noexcept {
    return {reinterpret_cast<const char*>(memory_.data()), input_bytes_};
  }

  /// Calls one sample after another, and adds what they took to a result.
  void sample(const std::function<void()>& one, schema::KernelResult& out,
              const std::optional<CountedWork>& work = {});
  /// Reads the input from its file.
  void read();
  /// Does work that no other rank takes part in.
  void timed(Part part, const std::function<void()>& work);
  /// Makes collective calls, as an exchange; nothing in it may fail on one rank alone.
  void talk(const std::function<void()>& calls);
  /// Hands `sent[rank]` to each rank and returns what each had for this one.
  std::vector<std::string> exchanged(std::vector<std::string> sent);
  /// The same outside of the timed parts, for checks.
  std::vector<std::string> handed(std::vector<std::string> sent);
  /// Hands bytes to one rank and receives others from it, as an exchange; who has no partner waits
  /// for the others.
  void swapped(std::optional<std::uint64_t> partner, std::string_view sent,
               std::span<char> received);
  /// The sum of all ranks' numbers, as an exchange.
  std::uint64_t summed(std::uint64_t value);
  /// Writes a result to storage, into a file that the run removes.
  void write(std::string_view data);
  /// Compares what was found with what follows from the generator; outside of the timed parts.
  void check(const std::function<void()>& compare);
  /// The fault that tests ask for.
  [[nodiscard]] bool damages() const;

  [[nodiscard]] const Environment& environment() const noexcept { return environment_; }

 private:
  void begin();
  void end(Part part, std::uint64_t begin_ns);
  void swap(std::size_t partner, std::string_view sent, std::span<char> received);

  const Environment& environment_;
  std::string name_;
  std::uint64_t records_;
  std::uint64_t first_;
  std::uint64_t last_;
  std::uint64_t input_bytes_ = 0;
  base::Buffer memory_;
  base::Descriptor input_;
  base::Descriptor output_;
  std::array<double, 4> taken_s_{};
};

/// The lines of a text, without their ends.
template <class Visit>
void each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The bytes of numbers, as they are sent and written.
template <class Value>
[[nodiscard]] std::string_view bytes_of(std::span<const Value> values) {
  static_assert(std::is_trivially_copyable_v<Value>);
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// The numbers that bytes are.
template <class Value>
[[nodiscard]] std::vector<Value> values_of(std::string_view bytes) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

}  // namespace venturi::kernel

// What a kernel gets and gives: a measurement of the machine by all ranks of a group.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backend/table.hpp"
#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "comm/group.hpp"
#include "kernel/description.hpp"
#include "schema/event.hpp"
#include "schema/plan.hpp"

namespace venturi::kernel {

/// The options of a step, or their defaults. They must have been checked.
class Settings {
 public:
  Settings(const Description& about, const std::vector<schema::Option>& options)
      : entry_{about.options, {}, nullptr}, options_(options) {}
  [[nodiscard]] bool boolean(const std::string& name) const {
    return backend::boolean_option(entry_, options_, name);
  }
  [[nodiscard]] double real(const std::string& name) const {
    return backend::real_option(entry_, options_, name);
  }
  [[nodiscard]] std::uint64_t integer(const std::string& name) const {
    return static_cast<std::uint64_t>(backend::integer_option(entry_, options_, name));
  }
  [[nodiscard]] std::uint64_t bytes(const std::string& name) const {
    return backend::bytes_option(entry_, options_, name);
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    return backend::text_option(entry_, options_, name);
  }
  [[nodiscard]] std::string word(const std::string& name) const {
    return backend::word_option(entry_, options_, name);
  }

 private:
  backend::Entry entry_;
  const std::vector<schema::Option>& options_;
};

/// What surrounds a kernel.
struct Environment {
  comm::Group& group;
  base::Clock& clock;
  std::uint64_t seed;
  const Settings& settings;
  /// Between two samples: a sign of life, and an exception where the run has ended.
  std::function<void()> tick;
  /// Does what may fail on this rank alone, by base::Error or std::bad_alloc; if it failed on any,
  /// all throw. Collective: no rank waits in a kernel for one that is gone.
  std::function<void(const std::function<void()>&)> together;
  /// Makes a new file in the run's directory, which the run removes at the end of the repetition.
  /// Throws base::Error.
  std::function<base::Descriptor(const std::string& name)> make_file;
};

/// Adds what was measured to `out`, which only rank 0's is read of. A check that fails is a
/// base::Error in `together`: then the run has failed and there is no number. Collective.
using Run = void (*)(const Environment& environment, schema::KernelResult& out);

struct Entry {
  Run run;
};

/// The problem of a value that is not what it must be.
[[nodiscard]] base::Error wrong_value(const std::string& what);

}  // namespace venturi::kernel

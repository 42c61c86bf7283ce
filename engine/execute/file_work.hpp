// What a rank did with each file in a phase, and from that what each server did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "comm/group.hpp"
#include "measure/meter.hpp"
#include "schema/event.hpp"

namespace venturi::execute {

class Context;
struct FileState;

/// Work on files, and when it began and ended.
struct TimedWork {
  measure::Work done;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;

  void add(const TimedWork& more) noexcept;
};

/// Of the first files of a rank in a phase, where their storage tells which server has them.
class FileWork {
 public:
  /// By the entry of the plan and the path.
  using Key = std::pair<std::size_t, std::string>;

  void add(const Key& key, const TimedWork& work);
  [[nodiscard]] const std::map<Key, TimedWork>& files() const noexcept { return files_; }

 private:
  static constexpr std::size_t kMost = 64;

  std::map<Key, TimedWork> files_;
};

/// Adds what the innermost phase counts while this lives to the work on one file.
class Charge {
 public:
  Charge(Context& context, const FileState& file, const std::string& path);
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  ~Charge();

 private:
  Context& context_;
  /// The number of the file's entry; none where nothing is to be added.
  std::size_t entry_;
  std::string path_;
  measure::Work before_ = {};
  std::uint64_t begin_ns_ = 0;
};

/// What each server did for all ranks, by their names; complete on rank 0. Asks the storage, so it
/// is called when no rank measures any more. Collective.
std::vector<schema::ServerShare> shares_of_servers(Context& context, const FileWork& work);

}  // namespace venturi::execute

// Signals between groups: who gives one tells the first rank of each group that waits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "comm/group.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// What one rank of a run tells others and was told. Signals count within one repetition.
class Signals {
 public:
  Signals(const schema::Plan& plan, comm::Group& world);

  /// The plan has waits.
  [[nodiscard]] bool any() const noexcept { return !homes_.empty(); }
  /// The signal was given once more, at `at_ns`; the groups are those of the step.
  void give(const std::vector<std::int64_t>& groups, std::string_view name, std::uint64_t at_ns);
  /// This rank gives no signals any more: waits for them end. Once is enough.
  void give_up();

  /// How a wait ended.
  enum class End : std::uint8_t { kLiteral, kGivenUp };
  /// Waits until the first rank of its group was told of `count` signals. Looks at the run
  /// meanwhile; throws when that ends. A simulated clock moves on to the latest of the signals.
  [[nodiscard]] End await(std::string_view name, std::uint64_t count, base::Clock& clock);
  /// The repetition is over. Collective over all ranks.
  void forget();

 private:
  /// The first rank of each instance of a group that waits.
  struct Home {
    std::int64_t group;
    std::size_t rank;
  };

  comm::Group& world_;
  std::vector<Home> homes_;
  bool gave_up_ = false;
};

}  // namespace venturi::execute

// Agreement by reductions: the lowest rank's text reaches all because the others add zeros.
#include "execute/error_agreement.hpp"

#include <array>
#include <cstring>

#include "comm/problem_text.hpp"

namespace venturi::execute {

std::optional<base::Problem> agree(comm::Group& group, const std::optional<base::Problem>& mine,
                                   std::uint64_t& largest) {
  const std::uint64_t none = 2 * group.size();
  const bool follows = mine && mine->code == kFollows;
  const std::uint64_t own = group.rank() + (follows ? group.size() : 0);
  // One call finds the least rank and the largest number.
  std::array<std::uint64_t, 2> found{none - (mine ? own : none), largest};
  group.reduce(found, comm::Reduction::kMaximum);
  const std::uint64_t first = none - found[0];
  largest = found[1];
  if (first == none) return std::nullopt;
  std::array<std::uint64_t, (sizeof(comm::ProblemText) + 7) / 8> words{};
  if (mine && first == own) {
    comm::ProblemText text;
    text.set(*mine);
    std::memcpy(words.data(), &text, sizeof text);
  }
  group.reduce(words, comm::Reduction::kSum);
  comm::ProblemText text;
  std::memcpy(static_cast<void*>(&text), words.data(), sizeof text);
  return text.get();
}

}  // namespace venturi::execute

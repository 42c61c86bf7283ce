// Agreement by reductions: the lowest rank's text reaches all because the others add zeros.
#include "execute/trouble.hpp"

#include <array>
#include <cstring>

#include "comm/problem_text.hpp"

namespace venturi::execute {

std::optional<base::Problem> agree(comm::Group& group, const std::optional<base::Problem>& mine) {
  const std::uint64_t first = group.minimum(mine ? group.rank() : group.size());
  if (first == group.size()) return std::nullopt;
  std::array<std::uint64_t, (sizeof(comm::ProblemText) + 7) / 8> words{};
  if (first == group.rank()) {
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

// Groups of groups: every collective on parts of the ranks, several parts alive at once.
// usage: group_probe [--forked] RANKS [abort]
#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/launch.hpp"

namespace venturi {
namespace {

using comm::Group;
using comm::Reduction;

void expect(bool fine, const std::string& what) {
  if (!fine) throw base::Error({.code = "probe", .message = what, .exit_code = 1});
}

/// All collectives of a group whose members have these numbers, in this order.
void exercise(Group& group, const std::vector<std::uint64_t>& members, std::uint64_t mine) {
  expect(group.size() == members.size(), "size");
  expect(members[group.rank()] == mine, "order");
  group.barrier();
  const std::uint64_t sum = std::accumulate(members.begin(), members.end(), std::uint64_t{0});
  expect(group.sum(mine) == sum, "sum");
  expect(group.minimum(mine) == members.front(), "minimum");
  expect(group.maximum(mine) == members.back(), "maximum");
  expect(group.gather(mine) == (group.rank() == 0 ? members : std::vector<std::uint64_t>{}),
         "gather");
  std::uint64_t word = mine;
  group.broadcast(word);
  expect(word == members.front(), "broadcast");
  // More than the memory that ranks exchange at a time.
  std::vector<std::uint64_t> many(3001, mine);
  group.reduce(many, Reduction::kSum);
  for (const std::uint64_t value : many) expect(value == sum, "long sum");
  std::vector<double> reals(1500, 0.5);
  group.reduce(reals, Reduction::kSum);
  expect(reals.back() == 0.5 * static_cast<double>(members.size()), "sum of reals");
  expect(group.communicator().has_value() == group.name().starts_with("mpi"), "communicator");
}

/// The members of a part, by colour.
std::vector<std::uint64_t> of_color(std::size_t size, std::size_t parts, std::size_t color) {
  std::vector<std::uint64_t> out;
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (rank % parts == color) out.push_back(rank);
  }
  return out;
}

/// Everybody tells everybody, and what is told in one round is forgotten in the next.
void exercise_telling(Group& world) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    for (std::size_t to = 0; to < world.size(); ++to) {
      for (std::uint64_t event = 1; event <= 3; ++event)
        world.tell(to, event, world.rank() + round);
    }
    for (std::uint64_t event = 1; event <= 3; ++event) {
      while (world.event_count(event).times < world.size()) world.poll();
      expect(world.event_count(event).times == world.size(), "told");
      expect(world.event_count(event).latest_ns == world.size() - 1 + round, "latest");
    }
    expect(world.event_count(4).times == 0, "not told");
    // Nobody waits for what comes last, and it is forgotten all the same.
    world.tell((world.rank() + 1) % world.size(), 5, 0);
    world.forget_told();
    expect(world.event_count(5).times == 0, "forgotten");
  }
}

void exercise_parts(Group& world) {
  exercise_telling(world);
  const std::size_t me = world.rank();
  const std::size_t size = world.size();
  Group thirds = world.split(me % 3);
  Group halves = world.split(me % 2 + (std::uint64_t{1} << 40U));
  Group all = world.split(7);
  Group alone = world.split(me);
  for (int round = 0; round < 20; ++round) {
    exercise(thirds, of_color(size, 3, me % 3), me);
    exercise(halves, of_color(size, 2, me % 2), me);
    exercise(all, of_color(size, 1, 0), me);
    exercise(alone, {me}, me);
    exercise(world, of_color(size, 1, 0), me);
  }
  // A part of a part: every sixth rank.
  Group sixths = halves.split(me % 3);
  exercise(sixths, of_color(size, 6, me % 6), me);
  // A part polls and is watched like the whole.
  all.own_counters().bytes = me + 1;
  world.barrier();
  std::uint64_t seen = 0;
  for (const comm::Counters* counters : thirds.visible_counters()) seen += counters->bytes;
  std::uint64_t expected = 0;
  for (const std::uint64_t rank : of_color(size, 3, me % 3)) expected += rank + 1;
  expect(seen == expected, "counters");
  world.barrier();
}

/// Groups that come and go; more of them than may live at once.
void exercise_many(Group& world) {
  for (std::uint64_t round = 0; round < 100; ++round) {
    Group part = world.split(world.rank() % (1 + round % 4));
    expect(part.sum(1) == part.size(), "short-lived group");
  }
}

/// Bytes of different lengths to the last rank of a part.
void exercise_messages(Group& world) {
  Group part = world.split(world.rank() % 2);
  const std::size_t last = part.size() - 1;
  const auto length = [](std::size_t rank) { return rank * 100'000 + 3; };
  const auto filled = [&](std::size_t rank) {
    std::vector<std::byte> data(length(rank));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 + rank);
    return data;
  };
  for (int round = 0; round < 5; ++round) {
    if (part.rank() != last) {
      part.send(last, filled(part.rank()));
      continue;
    }
    for (std::size_t rank = 0; rank < last; ++rank) {
      std::vector<std::byte> data(length(rank));
      part.receive(rank, data);
      expect(data == filled(rank), "message");
    }
  }
  world.barrier();
}

int probe(Group& world, bool aborts) {
  exercise_parts(world);
  exercise_many(world);
  exercise_messages(world);
  if (!aborts) return 0;
  Group part = world.split(world.rank() % 2);
  if (world.rank() == world.size() - 1) {
    throw base::Error({.code = "probe", .message = "the last rank gives up"});
  }
  for (;;) part.barrier();  // some wait for the last rank, the others for ever
}

}  // namespace
}  // namespace venturi

int main(int argc, char** argv) {
  using namespace venturi;
  std::vector<std::string> words(argv + 1, argv + argc);
  comm::Launch how;
  how.forked = words.front() == "--forked";
  if (how.forked) words.erase(words.begin());
  how.ranks = std::stoul(words.front());
  const bool aborts = words.size() > 1;
  how.body = [aborts](Group& group) { return probe(group, aborts); };
  how.on_broken = [](const base::Problem& problem) { fmt::print("{}\n", problem.message); };
  try {
    const int code = comm::launch(how);
    if (code == 0) fmt::print(stderr, "fine\n");
    return code;
  } catch (const base::Error& error) {
    fmt::print("{}\n", error.problem().message);
    return error.problem().exit_code;
  }
}

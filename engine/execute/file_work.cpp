// From files to their servers, and from the ranks' servers to those of all.
#include "execute/file_work.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>

#include "base/random.hpp"
#include "execute/context.hpp"

namespace venturi::execute {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::int64_t>::max();
/// No more servers are told apart.
constexpr std::size_t kMostServers = 1024;
/// Longer names are cut.
constexpr std::size_t kNameWords = 32;

/// One server's part in the work of a rank.
struct Share {
  std::string server;
  std::uint64_t files = 0;
  TimedWork work;
};

/// By a number that stands for the server's name on all ranks.
using Shares = std::map<std::uint64_t, Share>;

Shares shares_of_rank(RunFiles& run_files, const FileWork& work) {
  Shares shares;
  for (const auto& [key, done] : work.files()) {
    if (done.done.bytes == 0) continue;
    std::string server = run_files.files[key.first].plain->server(key.second);
    if (server.empty()) continue;
    Share& share = shares[base::key_of(server) >> 1U];
    if (share.files++ == 0) {
      share.server = std::move(server);
      share.work = done;
    } else {
      share.work.add(done);
    }
  }
  return shares;
}

/// The share of all ranks in the server with the smallest number that is left; `mine` is this
/// rank's part in it, null where it has none.
schema::ServerShare share_of_all(Context& context, const Share* mine) {
  comm::Group& group = context.group;
  constexpr std::size_t kSums = 4;
  const std::uint64_t speaker = group.minimum(mine != nullptr ? group.rank() : kNone);
  std::array<std::uint64_t, kSums + kNameWords> words{};
  if (mine != nullptr) {
    words = {1, mine->files, mine->work.done.bytes, mine->work.done.ns};
    if (group.rank() == speaker) {
      const std::size_t bytes = std::min(mine->server.size(), 8 * kNameWords - 1);
      std::memcpy(&words[kSums], mine->server.data(), bytes);
    }
  }
  group.reduce(std::span<std::uint64_t>(words), comm::Reduction::kSum);
  // On the clock that all ranks have in common.
  const auto offset_ns = static_cast<std::uint64_t>(context.clock_offset_ns);
  const std::uint64_t begin_ns =
      group.minimum(mine != nullptr ? mine->work.begin_ns + offset_ns : kNone);
  const std::uint64_t end_ns = group.maximum(mine != nullptr ? mine->work.end_ns + offset_ns : 0);
  std::array<char, 8 * kNameWords> name{};
  std::memcpy(name.data(), &words[kSums], name.size() - 1);
  return {.server = name.data(),
          .ranks = static_cast<std::int64_t>(words[0]),
          .files = static_cast<std::int64_t>(words[1]),
          .bytes = static_cast<std::int64_t>(words[2]),
          .sum_s = base::seconds(words[3]),
          .span_s = base::seconds(end_ns - std::min(begin_ns, end_ns))};
}

}  // namespace

void TimedWork::add(const TimedWork& more) noexcept {
  done.bytes += more.done.bytes;
  done.ns += more.done.ns;
  begin_ns = std::min(begin_ns, more.begin_ns);
  end_ns = std::max(end_ns, more.end_ns);
}

void FileWork::add(const Key& key, const TimedWork& work) {
  const auto found = files_.find(key);
  if (found != files_.end()) {
    found->second.add(work);
  } else if (files_.size() < kMost) {
    files_.emplace(key, work);
  }
}

Charge::Charge(Context& context, const FileState& file, const std::string& path)
    : context_(context), entry_(static_cast<std::size_t>(&file - context.files.data())) {
  if (!file.tells_servers || context.phases.empty()) {
    entry_ = context.files.size();
    return;
  }
  path_ = path;
  before_ = context.meter().work();
  begin_ns_ = context.clock.now_ns();
}

Charge::~Charge() {
  if (entry_ == context_.files.size()) return;
  const measure::Work now = context_.meter().work();
  context_.phases.back().file_work.add(
      {entry_, path_},
      {{now.bytes - before_.bytes, now.ns - before_.ns}, begin_ns_, context_.clock.now_ns()});
}

std::vector<schema::ServerShare> shares_of_servers(Context& context, const FileWork& work) {
  const Shares shares = shares_of_rank(context, work);
  std::vector<schema::ServerShare> out;
  auto next = shares.begin();
  while (out.size() < kMostServers) {
    const std::uint64_t own = next != shares.end() ? next->first : kNone;
    const std::uint64_t smallest = context.group.minimum(own);
    if (smallest == kNone) break;
    const bool is_mine = own == smallest;
    out.push_back(share_of_all(context, is_mine ? &next->second : nullptr));
    if (is_mine) ++next;
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.server < b.server; });
  return out;
}

}  // namespace venturi::execute

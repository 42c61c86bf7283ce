// The truth about caches: dropping pages of our files and looking whether they are gone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "execute/context.hpp"
#include "schema/event.hpp"

namespace venturi::execute {

/// Drops the cached pages of what this rank touched of these file entries and notes how much
/// stayed in memory. Foreign files are left alone.
void drop_caches(Context& context, const std::vector<std::size_t>& files);

/// What the data of a phase was read from, in the words of the event.
struct CacheVerdict {
  schema::CacheState state = schema::CacheState::kNone;
  std::string reason;
  /// Share of the pages that was in memory before the phase; nothing if nobody looked.
  std::optional<double> cached_share = {};
  /// All was read past the page cache.
  bool bypassed = false;
};

/// The verdict over all ranks. Collective.
CacheVerdict judge_cache(Context& context, const PhaseState& phase);

}  // namespace venturi::execute

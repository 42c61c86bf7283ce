// A library that only one process can use on a file: the first sharer works for the others.
#pragma once

#include <functional>
#include <memory>

#include "backend/backend.hpp"

namespace venturi::backend {

/// Wraps such a library's storage. Transfers are calls of all sharers: they hand their bytes to
/// the first, or get theirs from it, in rank order; each one's call lasts until its own part was
/// done. A sync is the first sharer's, who has all the data; it must come after the transfers.
///
/// With `pack` each sharer hands over, and the library gets, what it makes of a write: a request
/// whose bytes are there until the next one.
std::unique_ptr<Backend> make_gathered(std::unique_ptr<Backend> inner,
                                       const Environment& environment,
                                       std::function<Request(const Request&)> pack = {});

}  // namespace venturi::backend

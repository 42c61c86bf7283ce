// The probe's own directory on the storage: made once, marked, and known by the ring's key.
#pragma once

#include <cstdint>
#include <string>

#include "base/beneath.hpp"
#include "probe/ring.hpp"

namespace venturi::probe {

inline constexpr const char* kMarkerName = ".venturi";
inline constexpr const char* kDataName = "data";

/// The name of a file of the pool.
[[nodiscard]] std::string file_name(std::uint64_t number);

/// Opens the target directory, to name what is in it; an errno.
int open_target(const Ring& ring, base::Descriptor& out);

/// Opens the own directory, resolving no link below the target. An errno; ENOENT: it is not there.
/// No other call than the two opens is made: the name has the key in it.
int open_root(const Ring& ring, base::Descriptor& out);

/// Makes the own directory with its marker, or finds that an earlier worker did; an errno. EEXIST:
/// there is something with its name that this probe did not make.
int make_root(Ring& ring);

/// Whether the directory is the one that `make_root` made.
[[nodiscard]] bool is_own_root(const Ring& ring, int root);

/// Reads up to some bytes from the beginning of a file; an errno.
int read_start(int file, void* data, std::size_t bytes, std::size_t& got);

}  // namespace venturi::probe

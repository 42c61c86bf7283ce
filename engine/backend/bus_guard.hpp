// Touching mapped files: a page that storage cannot give is an error, not the end of the process.
#pragma once

#include <cstddef>

namespace venturi::backend {

/// Installs the handler of SIGBUS, once; a SIGBUS outside `copy_guarded` goes to the earlier one.
void install_bus_guard();

/// memcpy; false if a page could not be had (SIGBUS): the file is shorter than its mapping, the
/// file system is full, or the device failed. Then an unknown part was copied.
[[nodiscard]] bool copy_guarded(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace venturi::backend

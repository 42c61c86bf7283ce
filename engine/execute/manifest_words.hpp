// The words and the header of a manifest's text.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "execute/manifest.hpp"

namespace venturi::execute {

/// The file in a run's directory that says whose it is.
inline constexpr const char* kMarkerName = ".venturi";

/// What it says.
inline std::string marker_text(const std::string& run) { return "venturi run " + run + "\n"; }

/// The words of `EntryKind`, in its order.
inline constexpr std::array<std::string_view, 14> kEntryWords{
    "root", "marker",    "file",  "directory",    "tree",       "staged_file", "staged_tree",
    "kept", "kept_tree", "items", "staged_items", "kept_items", "intent",      "void"};

[[nodiscard]] constexpr bool is_items(EntryKind kind) noexcept {
  return kind == EntryKind::kItems || kind == EntryKind::kStagedItems ||
         kind == EntryKind::kKeptItems;
}

/// With what the manifests of a run begin; behind it stand three moments, 8 bytes each.
inline std::string header_of(const RunKey& key) {
  return "venturi manifest 2 " + key.text() + "\n";
}
inline constexpr std::size_t kMomentsAt = 56;

}  // namespace venturi::execute

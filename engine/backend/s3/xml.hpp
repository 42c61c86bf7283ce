// The few elements that are read of a server's answers in XML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace venturi::backend::s3 {

/// The contents of all elements of this name, in their order; elements within stay as they are.
[[nodiscard]] std::vector<std::string_view> elements(std::string_view xml, std::string_view name);
/// The text of the first element of this name; empty if there is none.
[[nodiscard]] std::string text_of(std::string_view xml, std::string_view name);
/// A text as it stands in an element.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace venturi::backend::s3

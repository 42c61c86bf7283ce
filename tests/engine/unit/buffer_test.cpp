// Memory for transfers: what the first transfer into it would pay for.
#include "base/buffer.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

namespace venturi::base {
namespace {

TEST(BufferTest, ItsPagesAreThereBeforeItIsUsed) {
  constexpr std::size_t kBytes = std::size_t{8} << 20U;
  Buffer buffer;
  std::byte* memory = buffer.reserve(kBytes);
  std::vector<unsigned char> pages(kBytes / Buffer::kAlignmentBytes);
  ASSERT_EQ(::mincore(memory, kBytes, pages.data()), 0);
  EXPECT_TRUE(
      std::all_of(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1U) != 0; }));
}

}  // namespace
}  // namespace venturi::base

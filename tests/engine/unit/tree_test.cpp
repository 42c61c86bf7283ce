// Names, numbers and sizes in trees.
#include "pattern/tree.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.hpp"
#include "pattern/item_size.hpp"

namespace venturi::pattern {
namespace {

/// Slots in which the rank is 12.
Slots rank_12() {
  Slots slots(schema::kSlotWords.size());
  slots[static_cast<std::size_t>(schema::Slot::kRank)] = std::int64_t{12};
  return slots;
}

schema::NamePart field(schema::NameField what, std::int64_t width = 0) {
  return {.field = what, .width = width};
}

TEST(TreeName, RewritesOnlyTheDigits) {
  TreeName name(item_name_parts({}), rank_12());
  EXPECT_STREQ(name(0, 0, 0), "f.12.0");
  EXPECT_STREQ(name(0, 0, 1234567), "f.12.1234567");
  EXPECT_STREQ(name(0, 0, 7), "f.12.7");
}

TEST(TreeName, HasFieldsInAnyOrderWithLeadingZeros) {
  using enum schema::NameField;
  TreeName name({{.text = "a"}, field(kItem, 4), {.text = "-"}, field(kNode), {.text = ".x"}},
                rank_12());
  EXPECT_STREQ(name(3, 42, 0), "a0042-3.x");
  EXPECT_STREQ(name(10, 123456, 0), "a123456-10.x");
  EXPECT_STREQ(name(3, 7, 0), "a0007-3.x");
}

TEST(TreeName, CountsUpAsIfWrittenAnew) {
  using enum schema::NameField;
  const std::vector<schema::NamePart> parts{
      {.text = "a"}, field(kItem, 3), {.text = "-"}, field(kNode), {.text = ".x"}};
  TreeName counting(parts, rank_12());
  for (std::uint64_t number = 0; number < 2345; number += number % 37 == 0 ? 2 : 1) {
    for (const std::uint64_t node : {number / 11, number / 11, number / 11 + 1}) {
      EXPECT_EQ(std::string(counting(node, number, 0)),
                TreeName(parts, rank_12())(node, number, 0));
    }
  }
}

TEST(TreeName, RefusesWhatMayBeLongerThanANameCanBe) {
  EXPECT_THROW(TreeName({{.text = std::string(240, 'a')}, field(schema::NameField::kItem)}, {}),
               base::Error);
}

TEST(NamesText, GivesTheSameNamesAgain) {
  using enum schema::NameField;
  const std::vector<schema::NamePart> parts{{.text = "a%b "},
                                            {.text = "n", .field = kNode, .width = 3},
                                            {.text = "%%t", .field = kItem},
                                            {.text = ";x", .field = kIndex, .width = 12},
                                            {.text = ".end"}};
  const auto again = names_of(text_of_names(parts, {}));
  ASSERT_TRUE(again);
  TreeName one(parts, {});
  TreeName two(*again, {});
  for (std::uint64_t i = 0; i < 1200; i += 7) {
    EXPECT_STREQ(one(i, 10 * i, i % 99), two(i, 10 * i, i % 99));
  }
}

TEST(NamesText, RefusesOtherTexts) {
  for (const char* text : {"%", "%n", "%q3;", "%n;", "%n-1;", "%n99999;", "a%n3"}) {
    EXPECT_FALSE(names_of(text)) << text;
  }
  EXPECT_TRUE(names_of(""));
}

TEST(Tree, NumbersDirectoriesLikeAHeap) {
  TreeName name(directory_name_parts({}), {});
  EXPECT_EQ(tree_nodes(0, 5), 1U);
  EXPECT_EQ(tree_nodes(2, 3), 13U);
  EXPECT_EQ(tree_nodes(64, 1), 65U);
  EXPECT_EQ(tree_node_path(0, 3, name), "");
  EXPECT_EQ(tree_node_path(7, 3, name), "/d.2/d.7");
  EXPECT_THROW(tree_nodes(64, 1'000'000), base::Error);
}

TEST(Tree, LeavesComeAfterAllOthers) {
  schema::Tree tree;
  tree.depth = 2;
  tree.branch = 3;
  EXPECT_EQ(first_item_node(tree), 0U);
  tree.leaves = true;
  EXPECT_EQ(first_item_node(tree), 4U);
}

TEST(ItemSizes, AreExactInEveryPeriodAndNotTheSameInEach) {
  ItemSizes sizes;
  sizes.restart(0, 77);
  sizes.add(10, 7);
  sizes.add(20, 2);
  sizes.add(30, 1);
  std::map<std::uint64_t, int> places;
  for (std::uint64_t period = 0; period < 100; ++period) {
    std::map<std::uint64_t, int> found;
    for (std::uint64_t i = 0; i < 10; ++i) {
      const std::uint64_t bytes = sizes(period * 10 + i);
      ++found[bytes];
      if (bytes == 30) ++places[i];
    }
    ASSERT_EQ(found, (std::map<std::uint64_t, int>{{10, 7}, {20, 2}, {30, 1}}));
  }
  EXPECT_EQ(places.size(), 10U);
  EXPECT_EQ(sizes.most_bytes(), 30U);
}

}  // namespace
}  // namespace venturi::pattern

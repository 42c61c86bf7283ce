// Packing takes the right cells of an application's array, in the file's order, and back.
#include "payload/halo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "pattern/expression.hpp"

namespace venturi {
namespace {

schema::Expression literal(std::int64_t number) {
  return {schema::Instruction{schema::Operator::kInteger, number, 0.0}};
}

schema::Halo halo_of(std::vector<std::int64_t> extent, std::vector<std::int64_t> guard,
                     std::int64_t variables, std::int64_t bytes = 8) {
  schema::Halo halo;
  for (const std::int64_t cells : extent) halo.extent.push_back(literal(cells));
  halo.guard = std::move(guard);
  halo.element_bytes = bytes;
  halo.variables = variables;
  return halo;
}

payload::HaloCursor walk_of(const schema::Halo& halo) {
  pattern::Evaluator evaluator;
  const pattern::Slots slots(schema::kSlotWords.size());
  return {halo, evaluator, slots};
}

/// An array of which each cell holds its own number.
template <class Cell>
std::vector<Cell> numbered(std::uint64_t bytes) {
  std::vector<Cell> cells(bytes / sizeof(Cell));
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<Cell>(i);
  return cells;
}

template <class Cell>
std::vector<Cell> packed(payload::HaloCursor& walk, const std::vector<Cell>& array,
                         std::size_t cells) {
  std::vector<Cell> out(cells);
  walk.pack(reinterpret_cast<const std::byte*>(array.data()),
            {reinterpret_cast<std::byte*>(out.data()), cells * sizeof(Cell)});
  return out;
}

TEST(Halo, PacksWhatLiesBetweenGuardCells) {
  // 2 blocks of 2 x 3 cells, with one guard cell around rows and two around columns: 4 x 7.
  payload::HaloCursor walk = walk_of(halo_of({2, 2, 3}, {0, 1, 2}, 1));
  EXPECT_EQ(walk.array_bytes(), 2 * 4 * 7 * 8);
  const auto array = numbered<std::uint64_t>(walk.array_bytes());
  const std::vector<std::uint64_t> wanted{9, 10, 11, 16, 17, 18, 37, 38, 39, 44, 45, 46};
  EXPECT_EQ(packed(walk, array, 12), wanted);
  EXPECT_EQ(packed(walk, array, 12), wanted);  // from the beginning again
}

TEST(Halo, TakesEachVariableFromBesideTheOthers) {
  payload::HaloCursor walk = walk_of(halo_of({2, 2}, {0, 1}, 3, 4));
  EXPECT_EQ(walk.array_bytes(), 2 * 4 * 3 * 4);
  const auto array = numbered<std::uint32_t>(walk.array_bytes());
  EXPECT_EQ(packed(walk, array, 4), (std::vector<std::uint32_t>{3, 6, 15, 18}));
  EXPECT_EQ(packed(walk, array, 4), (std::vector<std::uint32_t>{4, 7, 16, 19}));
  EXPECT_EQ(packed(walk, array, 4), (std::vector<std::uint32_t>{5, 8, 17, 20}));
  EXPECT_EQ(packed(walk, array, 4), (std::vector<std::uint32_t>{3, 6, 15, 18}));
}

TEST(Halo, GoesOnInTheMiddleOfARow) {
  payload::HaloCursor walk = walk_of(halo_of({2, 5}, {1, 1}, 2, 2));
  const auto array = numbered<std::uint16_t>(walk.array_bytes());
  std::vector<std::uint16_t> pieces = packed(walk, array, 3);
  for (const std::uint16_t cell : packed(walk, array, 7)) pieces.push_back(cell);
  payload::HaloCursor whole = walk_of(halo_of({2, 5}, {1, 1}, 2, 2));
  EXPECT_EQ(pieces, packed(whole, array, 10));
}

TEST(Halo, UnpacksToWhereItPacksFrom) {
  for (const std::int64_t variables : {1, 3}) {
    const schema::Halo halo = halo_of({3, 2, 4}, {2, 0, 1}, variables);
    payload::HaloCursor there = walk_of(halo);
    payload::HaloCursor back = walk_of(halo);
    const auto cells = numbered<std::uint64_t>(24 * 8);
    std::vector<std::uint64_t> array(there.array_bytes() / 8, ~std::uint64_t{0});
    there.unpack(reinterpret_cast<std::byte*>(array.data()),
                 {reinterpret_cast<const std::byte*>(cells.data()), cells.size() * 8});
    EXPECT_EQ(packed(back, array, 24), cells);
    EXPECT_EQ(std::count(array.begin(), array.end(), ~std::uint64_t{0}),
              static_cast<std::ptrdiff_t>(array.size() - 24));  // guard cells are left alone
  }
}

TEST(Halo, RefusesWhatNoMemoryHolds) {
  EXPECT_THROW(walk_of(halo_of({std::int64_t{1} << 40, std::int64_t{1} << 40}, {0, 0}, 1)),
               base::Error);
  EXPECT_THROW(payload::check(halo_of({2, 2}, {1}, 1), schema::kSlotWords.size(), "step"),
               base::Error);
}

}  // namespace
}  // namespace venturi

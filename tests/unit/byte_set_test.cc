// Sets of bytes beside loops over all bytes.

#include "base/byte_set.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace parlance::base::byte_set_test {
namespace {

TEST(ByteSet, TheNextByteIsTheLeastThatIsNotBelow) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    ByteSet set = {};
    const std::size_t count = random() % (round % 2 == 0 ? 4 : 200);
    for (std::size_t i = 0; i < count; ++i) {
      add_byte(set, static_cast<std::uint8_t>(random() % 256));
    }
    std::vector<std::uint8_t> visited;
    for_bytes(set, [&](std::uint8_t byte) { visited.push_back(byte); });
    std::vector<std::uint8_t> found;
    for (std::size_t from = 0; from <= 256; ++from) {
      std::size_t least = from;
      while (least < 256 && !has_byte(set, static_cast<std::uint8_t>(least))) {
        ++least;
      }
      EXPECT_EQ(next_byte(set, from), least);
      if (least == from && least < 256) {
        found.push_back(static_cast<std::uint8_t>(least));
      }
    }
    EXPECT_EQ(visited, found);
    EXPECT_EQ(static_cast<std::size_t>(count_bytes(set)), found.size());
  }
}

}  // namespace
}  // namespace parlance::base::byte_set_test

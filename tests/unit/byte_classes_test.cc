// Partitions of the bytes beside lists of what tells bytes apart.

#include "automata/byte_classes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace parlance::automata::byte_classes_test {
namespace {

TEST(ByteClasses, TheLeastByteWithTheSameMarks) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    ByteClasses classes;
    std::array<std::vector<unsigned>, 256> marks;  // of each byte
    const unsigned steps = random() % 30;
    for (unsigned step = 1; step <= steps; ++step) {
      if (random() % 8 != 0) {
        // Small ones are the least of their classes.
        const auto byte = static_cast<std::uint8_t>(
            random() % 2 == 0 ? random() % 256 : random() % 8);
        classes.split(byte);
        marks[byte].push_back(step);
      } else {
        ByteTable values{};
        const unsigned kinds = random() % 4 + 1;
        for (std::size_t byte = 0; byte < 256; ++byte) {
          values[byte] = static_cast<std::uint8_t>(random() % kinds * 60);
          marks[byte].push_back(values[byte] * 100U + step);
        }
        classes.refine(values);
      }
      for (std::size_t byte = 0; byte < 256; ++byte) {
        std::size_t least = 0;
        while (marks[least] != marks[byte]) ++least;
        ASSERT_EQ(classes.representative()[byte], least)
            << "byte " << byte << ", step " << step << ", round " << round;
      }
    }
  }
}

TEST(ByteClasses, AllBytesAreOneClassAtFirst) {
  EXPECT_EQ(ByteClasses().representative(), ByteTable{});
}

TEST(ByteClasses, EachByteByItself) {
  ByteClasses classes;
  for (int byte = 0; byte < 256; ++byte) {
    classes.split(static_cast<std::uint8_t>(byte));
    classes.split(static_cast<std::uint8_t>(byte));
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(classes.representative()[byte], byte);
  }
}

}  // namespace
}  // namespace parlance::automata::byte_classes_test

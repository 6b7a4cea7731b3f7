// The sums and hashes that stand in files.

#include "base/checksum.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace parlance::base::checksum_test {
namespace {

// These values stand in files, which machines of either byte order read.
TEST(Checksum, IsTheSameOnEveryMachine) {
  const struct {
    std::string_view text;
    std::uint64_t hash;
  } rows[] = {{"", 0},
              {"a", 0xe2caa5ec6f0682bb},
              {"hello, world", 0xc37302507b8b5f7c},
              {"parlance grammar", 0xb7aa54dd5db25340}};
  for (const auto& row : rows) EXPECT_EQ(hash_text(row.text), row.hash);
  std::string bytes;
  for (int i = 0; i < 48; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(checksum(bytes), 0x684b575b2e2af6f6u);
  EXPECT_EQ(little_endian_word("\1\2\3\4\5\6\7\x08"), 0x0807060504030201u);
  EXPECT_EQ(little_endian_word("\1\2\3", 3), 0x030201u);
}

}  // namespace
}  // namespace parlance::base::checksum_test

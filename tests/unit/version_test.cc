// The version of the headers and of the library, by way of all headers.

#include <gtest/gtest.h>

#include <string>

#include "parlance/parlance.h"

namespace parlance::version_test {
namespace {

#if PARLANCE_VERSION < PARLANCE_VERSION_NUMBER(0, 1, 0)
#error "the preprocessor compares versions"
#endif

TEST(Version, NumbersAndTextAgree) {
  EXPECT_EQ(PARLANCE_VERSION_STRING,
            std::to_string(PARLANCE_VERSION_MAJOR) + "." +
                std::to_string(PARLANCE_VERSION_MINOR) + "." +
                std::to_string(PARLANCE_VERSION_PATCH));
  EXPECT_EQ(PARLANCE_VERSION / 1000000, PARLANCE_VERSION_MAJOR);
  EXPECT_EQ(PARLANCE_VERSION / 1000 % 1000, PARLANCE_VERSION_MINOR);
  EXPECT_EQ(PARLANCE_VERSION % 1000, PARLANCE_VERSION_PATCH);
  EXPECT_EQ(PARLANCE_VERSION_NUMBER(1, 2, 3), 1002003);
}

TEST(Version, OfTheLibraryIsThatOfTheHeaders) {
  EXPECT_EQ(version(), PARLANCE_VERSION_STRING);
}

}  // namespace
}  // namespace parlance::version_test

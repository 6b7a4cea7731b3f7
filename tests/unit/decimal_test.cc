// Exact decimals: reading, order, multiples.

#include "base/decimal.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace parlance::base::decimal_test {
namespace {

Decimal d(const std::string& text) {
  auto value = Decimal::from_json(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(Decimal{});
}

TEST(Decimal, OneFormForEveryValue) {
  struct Case {
    const char* text;
    const char* canonical;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"0", "0"},
           {"-0", "0"},
           {"-0.000e99999999999999999999", "0"},
           {"1e5", "100000"},
           {"1E+400", "1e+400"},
           {"2.50", "2.5"},
           {"25e-1", "2.5"},
           {"0.00001", "0.00001"},
           {"0.0000001", "1e-7"},
           {"-12.5e1", "-125"},
           {"123456789012345678901", "123456789012345678901"},
           {"1234567890123456789010", "1.23456789012345678901e+21"}}) {
    EXPECT_EQ(d(c.text).to_string(), c.canonical) << c.text;
    EXPECT_EQ(d(c.canonical), d(c.text));
  }
}

TEST(Decimal, RefusesWhatIsNoNumber) {
  for (const char* text :
       {"", "-", "01", "1.", ".5", "+1", "1e", "1e+", "0x1", "1 ", " 1", "NaN",
        "1e2000000000", "1e-99999999999999999999"}) {
    EXPECT_FALSE(Decimal::from_json(text)) << text;
  }
}

TEST(Decimal, Integers) {
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Decimal::from_int(kLow).to_string(), "-9223372036854775808");
  EXPECT_EQ(Decimal::from_int(-120), d("-1.2e2"));
  EXPECT_EQ(Decimal::from_int(0), Decimal{});
  EXPECT_TRUE(d("20e-1").is_integer());
  EXPECT_FALSE(d("2.5").is_integer());
  EXPECT_TRUE(d("0").is_integer());
}

TEST(Decimal, OrderIsThatOfValues) {
  const char* ascending[] = {
      "-1e400", "-10",    "-9.5",  "-1e-9",
      "0",      "1e-400", "0.1",   "0.10000000000000000001",
      "0.2",    "1",      "9",     "9.99",
      "10",     "1e30",   "12e30", "1e400"};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t k = 0; k < std::size(ascending); ++k) {
      EXPECT_EQ(d(ascending[i]) <=> d(ascending[k]), i <=> k)
          << ascending[i] << " " << ascending[k];
    }
  }
}

TEST(Decimal, MultiplesAreExact) {
  struct Case {
    const char* value;
    const char* of;
    bool expected;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"0.3", "0.1", true},
           {"0.35", "0.1", false},
           {"-7.5", "2.5", true},
           {"1e308", "0.5", true},
           {"1e-9", "1", false},
           {"0", "7", true},
           {"9007199254740993", "2", false},
           {"1e1000000000", "1024", true},
           {"1e1000000000", "3", false},
           {"24691357802469135780", "12345678901234567890", true},
           {"24691357802469135781", "12345678901234567890", false},
           {"1e300", "12345678901234567890", false},
           {"1e300", "1267650600228229401496703205376", true}}) {
    EXPECT_EQ(is_multiple(d(c.value), d(c.of)), c.expected)
        << c.value << " of " << c.of;
  }
}

TEST(Decimal, MultiplesAgreeWithIntegers) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::int64_t value = static_cast<std::int64_t>(random() % 100000);
    std::int64_t of = static_cast<std::int64_t>(random() % 400 + 1);
    std::string scale = "e" + std::to_string(int(random() % 40) - 20);
    ASSERT_EQ(is_multiple(d(std::to_string(value) + scale),
                          d(std::to_string(of) + scale)),
              value % of == 0)
        << value << " " << of << " " << scale;
    // A factor that takes both past what a machine word holds.
    const std::string big = "00000000000000000000";
    ASSERT_EQ(is_multiple(d(std::to_string(value * 3 + 0) + big),
                          d(std::to_string(of * 3) + big)),
              value % of == 0);
  }
}

}  // namespace
}  // namespace parlance::base::decimal_test

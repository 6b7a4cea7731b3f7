// UTF-8, Python's numbers and white space, ids, fingerprints, and the spelling
// of errors.

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "base/fingerprint.h"
#include "base/id.h"
#include "base/nearest_double.h"
#include "base/python_number.h"
#include "base/utf8.h"
#include "parlance/error.h"

namespace parlance::base::base_test {
namespace {

using Kind = Utf8Step::Kind;

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    std::string text;
    append_utf8(text, c);
    std::size_t i = 0;
    ASSERT_EQ(next_code_point(text, i), c);
    ASSERT_EQ(i, text.size());
    ASSERT_EQ(count_code_points(text), 1u);
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    ASSERT_EQ(is_utf8(text), !surrogate);
    ASSERT_TRUE(is_utf8(text, /*surrogates=*/true));
  }
}

struct StepCase {
  std::string_view bytes;
  Kind kind;
  std::size_t size;
};

// The classic rows of The Unicode Standard, table 3-8, among others.
constexpr StepCase kSteps[] = {
    {"a", Kind::kValid, 1},
    {"a\x80", Kind::kValid, 1},
    {"ab\xC3", Kind::kValid, 2},
    {"\x80", Kind::kIllFormed, 1},
    {"\xC0\xAF", Kind::kIllFormed, 1},
    {"\xC1", Kind::kIllFormed, 1},
    {"\xC3", Kind::kIncomplete, 1},
    {"\xC3\xA9", Kind::kValid, 2},
    {"\xC3(", Kind::kIllFormed, 1},
    {"\xE0\x80\xBF", Kind::kIllFormed, 1},
    {"\xE2\x82", Kind::kIncomplete, 2},
    {"\xE2\x82\xAC", Kind::kValid, 3},
    {"\xE2\x82(", Kind::kIllFormed, 2},
    {"\xED\xA0\x80", Kind::kIllFormed, 1},
    {"\xEF\xBF\xBF", Kind::kValid, 3},
    {"\xF0\x80\x80\x80", Kind::kIllFormed, 1},
    {"\xF0\x9F\x98", Kind::kIncomplete, 3},
    {"\xF0\x9F\x98\x80", Kind::kValid, 4},
    {"\xF0\x9F\x98(", Kind::kIllFormed, 3},
    {"\xF1\x80", Kind::kIncomplete, 2},
    {"\xF4\x90\x80\x80", Kind::kIllFormed, 1},
    {"\xF5", Kind::kIllFormed, 1},
    {"\xFF", Kind::kIllFormed, 1},
};

TEST(Utf8, Steps) {
  for (const StepCase& row : kSteps) {
    const Utf8Step step = next_utf8(row.bytes);
    EXPECT_EQ(step.kind, row.kind) << ::testing::PrintToString(row.bytes);
    EXPECT_EQ(step.size, row.size) << ::testing::PrintToString(row.bytes);
  }
  EXPECT_EQ(next_utf8("\xED\xA0\x80", true).kind, Kind::kValid);
}

TEST(Utf8, AsciiPrefixAtEveryPlace) {
  for (std::size_t size = 0; size < 70; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      std::string text(size, 'x');
      if (at < size) text[at] = '\x80';
      EXPECT_EQ(ascii_prefix(text), at) << size;
    }
  }
}

TEST(Utf8, IllFormedByteIsReplacedAlone) {
  const std::string_view text = "\xE2\x82(";
  std::size_t i = 0;
  EXPECT_EQ(next_code_point(text, i), 0xFFFDu);
  EXPECT_EQ(i, 1u);
}

struct StripCase {
  std::string_view text;
  std::string_view stripped;
};

constexpr StripCase kStrips[] = {
    {"", ""},
    {"a", "a"},
    {"  a ", "a"},
    {" \t\n\v\f\r ", ""},
    {"\x1C\x1D\x1E\x1F"
     "a\x1F",
     "a"},
    {"\u0085a\u00A0", "a"},
    {"\u3000a\u2028", "a"},
    {"\u2000\u205F", ""},
    {"\u200Ba", "\u200Ba"},
    {"\uFEFFa", "\uFEFFa"},
    {"\u180Ea", "\u180Ea"},
    {"a b", "a b"},
    {" \u00E9 ", "\u00E9"},
};

TEST(PythonStrip, Table) {
  for (const StripCase& row : kStrips) {
    EXPECT_EQ(python_strip(row.text), row.stripped);
  }
}

struct IntCase {
  std::string_view text;
  std::string_view digits;  // "" if it is not a number
};

constexpr IntCase kInts[] = {
    {"0", "0"},
    {"-0", "0"},
    {"+7", "7"},
    {"007", "7"},
    {" 12\n", "12"},
    {"\u00A0"
     "12\u3000",
     "12"},
    {"1_000", "1000"},
    {"\u0661\u0662", "12"},
    {"\u0661"
     "2",
     "12"},
    {"-123456789012345678901234567890", "-123456789012345678901234567890"},
    {"", ""},
    {" ", ""},
    {"-", ""},
    {"- 1", ""},
    {"+-1", ""},
    {"_1", ""},
    {"1_", ""},
    {"1__0", ""},
    {"1.0", ""},
    {"1e3", ""},
    {"0x10", ""},
    {"\x1C"
     "1",
     ""},
    {"\u00B2", ""},
    {"1\u200B", ""},
};

TEST(PythonInt, Table) {
  for (const IntCase& row : kInts) {
    std::string digits;
    const NumberStatus status = python_int(row.text, digits);
    EXPECT_EQ(status == NumberStatus::kOk, !row.digits.empty()) << row.text;
    EXPECT_EQ(digits, row.digits) << row.text;
  }
}

TEST(PythonInt, LimitOfDigits) {
  std::string digits;
  EXPECT_EQ(python_int("1234", digits, 4), NumberStatus::kOk);
  EXPECT_EQ(python_int("-1_2_3_4", digits, 4), NumberStatus::kOk);
  EXPECT_EQ(python_int("12345", digits, 4), NumberStatus::kTooManyDigits);
  EXPECT_EQ(python_int("00001", digits, 4), NumberStatus::kTooManyDigits);
  EXPECT_EQ(digits, "-1234");
  EXPECT_EQ(python_int(std::string(4300, '9'), digits), NumberStatus::kOk);
  EXPECT_EQ(python_int(std::string(4301, '9'), digits),
            NumberStatus::kTooManyDigits);
}

struct FloatCase {
  std::string_view text;
  double value;
};

constexpr double kInfinity = HUGE_VAL;

constexpr FloatCase kFloats[] = {
    {"1", 1},
    {"1.", 1},
    {".5", 0.5},
    {"-.5e1", -5},
    {"+1E+2", 100},
    {" 1_0.0_1 ", 10.01},
    {"\u0661.\u0665", 1.5},
    {"inf", kInfinity},
    {"-Infinity", -kInfinity},
    {"iNf", kInfinity},
    {"1e400", kInfinity},
    {"-1e400", -kInfinity},
    {"1e-400", 0},
    {"5e-324", 5e-324},
    {"0e999999999999999999999", 0},
    {"1e999999999999999999999", kInfinity},
};

constexpr std::string_view kNoFloats[] = {
    "",
    " ",
    ".",
    "-",
    "1e",
    "e1",
    "1_.0",
    "1._0",
    "_1",
    "1_",
    "1 2",
    "0x1p3",
    "infi",
    "nan1",
    "infinityy",
    "1,5",
    "--1",
    "\x1C"
    "1",
};

TEST(PythonFloat, Table) {
  for (const FloatCase& row : kFloats) {
    double value = -1;
    EXPECT_TRUE(python_float(row.text, value)) << row.text;
    EXPECT_EQ(value, row.value) << row.text;
  }
  double value = 7;
  EXPECT_TRUE(python_float("-NaN", value));
  EXPECT_TRUE(std::isnan(value));
  for (const std::string_view text : kNoFloats) {
    value = 7;
    EXPECT_FALSE(python_float(text, value)) << text;
    EXPECT_EQ(value, 7) << text;
  }
}

TEST(PythonFloat, ManyZerosAgainstALargeExponent) {
  const std::string zeros(700000, '0');
  EXPECT_EQ(decimal_to_double("0." + zeros + "25e700001"), 2.5);
  EXPECT_EQ(decimal_to_double("-1" + zeros + "e-700000"), -1);
}

// The shortest text of a double reads back to it, also of the smallest.
TEST(NearestDouble, ReadsWhatIsWritten) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 4000; ++i) {
    std::uint64_t bits = random() & ~(std::uint64_t{1} << 63);
    if (i % 4 == 0) bits &= (std::uint64_t{1} << 53) - 1;
    const double value = std::bit_cast<double>(bits);
    if (!std::isfinite(value)) continue;
    char text[64];
    const char* const end =
        std::to_chars(text, text + 64, value, std::chars_format::scientific)
            .ptr;
    const std::string_view written(text, static_cast<std::size_t>(end - text));
    const std::size_t e = written.find('e');
    std::string digits(written.substr(0, 1));
    if (e > 1) digits += written.substr(2, e - 2);
    const int power = std::stoi(std::string(written.substr(e + 1)));
    EXPECT_EQ(nearest_double(digits, power + 1), value) << written;
  }
}

TEST(NearestDouble, HalvesGoToTheEvenOne) {
  // 2^53 + 1 lies between two doubles, as what 900 digits are longer by does.
  const std::string half = "9007199254740993";
  const std::string zeros(900, '0');
  EXPECT_EQ(nearest_double(half, 16), 9007199254740992.0);
  EXPECT_EQ(nearest_double(half + zeros + "1", 16), 9007199254740994.0);
  EXPECT_EQ(nearest_double("9007199254740995", 16), 9007199254740996.0);
  EXPECT_EQ(nearest_double("17976931348623157", 309),
            std::numeric_limits<double>::max());
  EXPECT_EQ(nearest_double("1797693134862315908", 309),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(nearest_double("1", 400), std::numeric_limits<double>::infinity());
  EXPECT_EQ(nearest_double("49406564584124654", -323),
            std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(nearest_double("247", -323), 0.0);
  EXPECT_EQ(nearest_double("248", -323),
            std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(nearest_double("", 5), 0.0);
  EXPECT_EQ(nearest_double("000", 5), 0.0);
}

#if defined(__cpp_lib_to_chars)
TEST(NearestDouble, AgreesWithTheStandardLibrary) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 4000; ++i) {
    std::string digits;
    for (std::uint64_t left = 1 + random() % 30; left > 0; --left) {
      digits += static_cast<char>('0' + random() % 10);
    }
    const auto power = static_cast<std::int64_t>(random() % 620) - 310;
    const std::string text = "0." + digits + "e" + std::to_string(power);
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec ==
        std::errc()) {
      EXPECT_EQ(nearest_double(digits, power), value) << text;
    }
  }
}
#endif

TEST(Error, NamesAreDistinctAndInSnakeCase) {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(ErrorCode::kBadSyntax); ++i) {
    const std::string_view name = to_string(static_cast<ErrorCode>(i));
    EXPECT_NE(name, "unknown") << i;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_8"),
              std::string_view::npos)
        << name;
    for (const std::string_view other : names) EXPECT_NE(name, other);
    names.push_back(name);
  }
}

TEST(Error, OneLine) {
  const Error bare{ErrorCode::kUsage, "no."};
  EXPECT_EQ(bare.to_string(), "usage: no.");
  const Error full{ErrorCode::kUnknownKey, "what", "/fields/x", Span{10, 15}};
  EXPECT_EQ(full.to_string(), "unknown_key at /fields/x (bytes 10..15): what");
}

TEST(LineColumn, CountsCharactersFromOne) {
  const std::string_view text = "ab\n\r\n\xC3\xA9\xFF!\n";
  const struct {
    std::size_t byte;
    LineColumn place;
  } rows[] = {
      {0, {1, 1}}, {2, {1, 3}}, {3, {2, 1}},  {4, {2, 2}},   {5, {3, 1}},
      {7, {3, 2}}, {8, {3, 3}}, {10, {4, 1}}, {999, {4, 1}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(line_column(text, row.byte), row.place) << row.byte;
  }
  EXPECT_EQ(line_column("", 0), (LineColumn{1, 1}));
  EXPECT_EQ(to_string(LineColumn{3, 9}), "line 3, column 9");
  const Error placed{ErrorCode::kBadSyntax, "what", "/x", Span{5, 7}};
  EXPECT_EQ(to_string(placed, text),
            "bad_syntax at /x (line 3, column 1): what");
  EXPECT_EQ(to_string(Error{ErrorCode::kUsage, "no."}, text), "usage: no.");
}

using RowId = Id<struct RowTag>;
using ColumnId = Id<struct ColumnTag>;
using SmallId = Id<struct SmallTag, std::uint8_t>;

template <typename A, typename B>
concept Comparable = requires(A a, B b) {
  a == b;
};
template <typename A, typename B>
concept Ordered = requires(A a, B b) {
  a < b;
};

static_assert(sizeof(RowId) == 4 && sizeof(SmallId) == 1);
static_assert(std::is_trivially_copyable_v<RowId>);
static_assert(std::is_convertible_v<RowId, std::uint32_t>);
static_assert(std::is_constructible_v<RowId, std::size_t>);
static_assert(!std::is_convertible_v<int, RowId>);
static_assert(!std::is_constructible_v<RowId, ColumnId>);
static_assert(!std::is_constructible_v<RowId, bool>);
static_assert(!std::is_assignable_v<RowId&, ColumnId>);
static_assert(!std::is_assignable_v<RowId&, int>);
static_assert(Comparable<RowId, RowId> && Ordered<RowId, RowId>);
static_assert(Comparable<RowId, std::size_t> && Ordered<RowId, std::size_t>);
static_assert(!Comparable<RowId, ColumnId> && !Ordered<RowId, ColumnId>);

TEST(Id, IndexesComparesAndHashes) {
  const std::vector<int> rows = {10, 20, 30};
  int sum = 0;
  for (RowId id; id < rows.size(); ++id) sum += rows[id];
  EXPECT_EQ(sum, 60);
  const RowId last{rows.size() - 1};
  EXPECT_EQ(last, RowId{2});
  EXPECT_NE(last, RowId{});
  EXPECT_LT(RowId{}, last);
  EXPECT_EQ(last + 1, rows.size());
  EXPECT_EQ(last.value(), 2u);
  const std::unordered_set<RowId> seen = {RowId{1}, RowId{2}, RowId{1}};
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen.count(last), 1u);
}

// --- Fingerprints ------------------------------------------------------------

// The vectors of SipHash-2-4 with 128 bits: the key is the bytes 0 to 15, the
// text the first bytes from 0.
TEST(Fingerprint, IsSipHash) {
  const Fingerprinter::Key key{.low = 0x0706050403020100,
                               .high = 0x0F0E0D0C0B0A0908};
  EXPECT_EQ(
      Fingerprinter(key).take(),
      (Fingerprint{.low = 0xE6A825BA047F81A3, .high = 0x930255C71472F66D}));
  EXPECT_EQ(
      Fingerprinter(0x0706050403020100, key).take(),
      (Fingerprint{.low = 0x61F55862BAA9623B, .high = 0xB49714F364E2830F}));
}

TEST(Fingerprint, IsOfTheProcess) {
  const auto of = [](const Fingerprinter::Key& key) {
    return Fingerprinter(1, key).add(2).add("three").take();
  };
  EXPECT_EQ(of(Fingerprinter::process_key()),
            Fingerprinter(1).add(2).add("three").take());
  EXPECT_NE(of(Fingerprinter::process_key()), of({.low = 0, .high = 0}));
  EXPECT_TRUE(of(Fingerprinter::process_key()));
  EXPECT_FALSE(Fingerprint());
}

TEST(Fingerprint, TextsAndNumbersAreApart) {
  const auto of = [](auto... parts) {
    Fingerprinter print(0);
    (print.add(parts), ...);
    return print.take();
  };
  using View = std::string_view;
  EXPECT_NE(of(View("ab"), View("c")), of(View("a"), View("bc")));
  EXPECT_NE(of(View("a")), of(View("a\0", 2)));
  EXPECT_NE(of(View("")), of());
  EXPECT_NE(of(std::uint64_t{1}), of(std::uint64_t{1}, std::uint64_t{0}));
  FingerprintSet one, other;
  one.add(of(View("a")));
  one.add(of(View("b")));
  other.add(of(View("b")));
  other.add(of(View("a")));
  EXPECT_EQ(one.sum(), other.sum());
}

}  // namespace
}  // namespace parlance::base::base_test

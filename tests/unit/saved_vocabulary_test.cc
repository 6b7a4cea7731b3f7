// Saved vocabularies: what is loaded is what was saved, and bytes that are
// damaged or forged are refused or safe to use.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "parlance/constraint.h"
#include "parlance/vocabulary.h"

namespace parlance::saved_vocabulary_test {
namespace {

// As src/foundation/vocab/saved_file.cc writes them.
constexpr std::size_t kVersionAt = 12;
constexpr std::size_t kLibraryAt = 16;
constexpr std::size_t kChecksumAt = 40;
constexpr std::size_t kPlacesAt = 48;
constexpr std::size_t kSections = 4;

Vocabulary small() {
  std::vector<TokenEntry> entries;
  entries.reserve(300);
  TokenId id = 0;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({id++, std::string(1, static_cast<char>(byte))});
  }
  for (const char* text : {"the", " the", "{\"", "\": ", "}", "aaa", "  ", "\n",
                           "true", "12", "12", "\\u00", "\xE2\x82"}) {
    entries.push_back({id++, text});
  }
  entries.push_back({.id = id++,
                     .bytes = "<tool>",
                     .kind = TokenKind::kAdded,
                     .strips_right = true});
  id += 3;
  entries.push_back({.id = id++,
                     .bytes = "",
                     .kind = TokenKind::kControl,
                     .spelling = "<|end|>",
                     .strips_left = true});
  entries.push_back({id++, "<tool>", TokenKind::kControl});
  const TokenId stop = id - 2;
  return *Vocabulary::from_table(entries, std::vector<TokenId>{stop});
}

std::string file_name() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return (std::filesystem::temp_directory_path() /
          (std::string("parlance-") + test->name() + "-" +
           std::to_string(std::random_device()())))
      .string();
}

class TemporaryFile {
 public:
  ~TemporaryFile() { std::filesystem::remove(name_); }
  const std::string& name() const { return name_; }
  std::string read() const {
    std::ifstream in(name_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string name_ = file_name();
};

void expect_equal(const Vocabulary& a, const Vocabulary& b) {
  ASSERT_EQ(a.size(), b.size());
  for (TokenId id = 0; id <= a.size(); ++id) {
    ASSERT_EQ(a.bytes(id), b.bytes(id)) << id;
    ASSERT_EQ(a.spelling(id), b.spelling(id)) << id;
    ASSERT_EQ(a.kind(id), b.kind(id)) << id;
    ASSERT_EQ(a.strips_left(id), b.strips_left(id)) << id;
    ASSERT_EQ(a.strips_right(id), b.strips_right(id)) << id;
    ASSERT_EQ(a.find(a.spelling(id)), b.find(a.spelling(id))) << id;
    ASSERT_EQ(a.special(a.spelling(id)), b.special(a.spelling(id))) << id;
  }
  EXPECT_TRUE(std::ranges::equal(a.special_ids(), b.special_ids()));
  EXPECT_TRUE(std::ranges::equal(a.stop_ids(), b.stop_ids()));
  EXPECT_EQ(a.has_stop_ids(), b.has_stop_ids());
  EXPECT_EQ(a.space_after_marks(), b.space_after_marks());
  EXPECT_EQ(a.strip_leading_space(), b.strip_leading_space());
}

// The masks of a few texts.
std::vector<std::int32_t> masks(const Vocabulary& vocabulary) {
  const Compiler compiler = *Compiler::create(vocabulary);
  std::vector<std::int32_t> all;
  std::vector<std::int32_t> row(compiler.mask_words());
  const Constraint schema = *compiler.compile_json_schema(
      R"({"properties": {"a": {"pattern": "^[a-f]+$"}, "b": {"maxLength": 3}}})");
  const Constraint regex = *compiler.compile_regex("[a-z ]{3,7}(the|12)+");
  for (const auto& [constraint, text] :
       {std::pair(schema, "{\"a\": \"abc\", \"b\": \"the\"}"),
        std::pair(regex, "the the12")}) {
    Matcher matcher = constraint.matcher();
    for (const char* at = text;; ++at) {
      matcher.fill_bitmask(row);
      all.insert(all.end(), row.begin(), row.end());
      if (*at == '\0') break;
      EXPECT_TRUE(matcher.accept_bytes(std::string_view(at, 1))) << at;
    }
  }
  return all;
}

TEST(SavedVocabulary, BytesHaveEveryProperty) {
  const Vocabulary saved = small();
  const Result<Vocabulary> loaded = Vocabulary::from_bytes(saved.to_bytes());
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  expect_equal(saved, *loaded);
  EXPECT_EQ(masks(saved), masks(*loaded));
  EXPECT_EQ(loaded->to_bytes(), saved.to_bytes());

  // The properties of copies, and of a vocabulary without anything.
  for (const Vocabulary& other :
       {saved.with_space_after_marks(true), *saved.with_stop_ids({}),
        *saved.with_stop_ids(std::vector<TokenId>{3, 1}),
        *Vocabulary::from_table({}),
        *Vocabulary::from_tokens(
            {.tokens = std::vector<std::string>{"a", ""}})}) {
    expect_equal(other, *Vocabulary::from_bytes(other.to_bytes()));
    expect_equal(other, *Vocabulary::from_text(other.to_bytes()));
  }
}

TEST(SavedVocabulary, FilesHaveTheTables) {
  const Vocabulary saved = small();
  const TemporaryFile file;
  const Result<std::size_t> size = saved.save(file.name());
  ASSERT_TRUE(size) << size.error().to_string();
  EXPECT_EQ(*size, file.read().size());
  const std::vector<std::int32_t> expected = masks(saved);
  const Result<Vocabulary> loaded = Vocabulary::load(file.name());
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  expect_equal(saved, *loaded);
  EXPECT_EQ(masks(*loaded), expected);
  // A copy with other properties uses the same tables.
  EXPECT_EQ(masks(loaded->with_space_after_marks(true)), expected);
  // What is loaded outlives the file, and is saved as it was.
  const TemporaryFile again;
  ASSERT_TRUE(loaded->save(again.name()));
  EXPECT_EQ(again.read(), file.read());
  ASSERT_TRUE(Vocabulary::from_table({})->save(file.name()));
  EXPECT_EQ(masks(*loaded), expected);
  // Every way of reading a vocabulary recognises it.
  expect_equal(saved, *Vocabulary::from_file(again.name()));
  expect_equal(saved, *Vocabulary::from_text(again.read()));
  EXPECT_EQ(masks(*Vocabulary::from_bytes(again.read())), expected);
}

TEST(SavedVocabulary, ErrorsSayWhatIsWrong) {
  std::string bytes = small().to_bytes();
  EXPECT_EQ(Vocabulary::load("/nowhere/v").error().code, ErrorCode::kIo);
  EXPECT_EQ(Vocabulary::load("/").error().code, ErrorCode::kIo);
  // It has no bytes yet, and need not ever have some.
  const std::string fifo =
      ::testing::TempDir() + "fifo_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(Vocabulary::load(fifo).error().to_string(),
            "io: The saved vocabulary in " + fifo +
                " cannot be read: it is not a file.");
  std::remove(fifo.c_str());
  EXPECT_EQ(small().save("/nowhere/v").error().code, ErrorCode::kIo);
  EXPECT_EQ(Vocabulary::from_bytes("{}").error().message,
            "This is not a saved vocabulary; from_file() reads other files.");
  for (const std::size_t at : {kVersionAt, kLibraryAt + 2}) {
    std::string other = bytes;
    ++other[at];
    EXPECT_EQ(Vocabulary::from_bytes(other).error().code,
              ErrorCode::kUnsupportedVersion);
  }
  bytes.back() ^= 1;
  EXPECT_EQ(Vocabulary::from_bytes(bytes).error().message,
            "The saved vocabulary is damaged; save it again.");
}

TEST(SavedVocabulary, EveryTruncationIsRefused) {
  const std::string bytes = small().to_bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(Vocabulary::from_bytes(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(Vocabulary::from_bytes(bytes + std::string(8, '\0')));
}

// Tables that are damaged are built.
TEST(SavedVocabulary, DamagedTablesAreNotUsed) {
  const Vocabulary saved = small();
  const TemporaryFile file;
  ASSERT_TRUE(saved.save(file.name()));
  const std::string bytes = file.read();
  const std::vector<std::int32_t> expected = masks(saved);
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (int round = 0; round < 150; ++round) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    const Result<Vocabulary> loaded = Vocabulary::from_bytes(damaged);
    if (loaded) {
      ASSERT_EQ(masks(*loaded), expected) << round;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, std::size_t{10});
}

TEST(SavedVocabulary, EveryChangedByteIsRefused) {
  std::string bytes = small().to_bytes();
  for (char& byte : bytes) {
    for (const int change : {1, 0x80}) {
      byte = static_cast<char>(byte ^ change);
      ASSERT_FALSE(Vocabulary::from_bytes(bytes)) << &byte - bytes.data();
      byte = static_cast<char>(byte ^ change);
    }
  }
  EXPECT_TRUE(Vocabulary::from_bytes(bytes));
}

// Makes the checksums of a changed file right again, except those of sections
// that are not inside of the file.
void forge(std::string& bytes) {
  for (std::size_t i = 0; i < kSections; ++i) {
    std::uint64_t place[3];
    std::memcpy(place, &bytes[kPlacesAt + 24 * i], sizeof(place));
    if (place[0] > bytes.size() || place[1] > bytes.size() - place[0] ||
        place[1] % 8 != 0) {
      continue;
    }
    place[2] =
        base::checksum(std::string_view(bytes).substr(place[0], place[1]));
    std::memcpy(&bytes[kPlacesAt + 24 * i], place, sizeof(place));
  }
  const std::uint64_t sum =
      base::checksum(std::string_view(bytes).substr(kPlacesAt, 24 * kSections));
  std::memcpy(&bytes[kChecksumAt], &sum, 8);
}

// Calls every function for every id.
std::size_t use(const Vocabulary& vocabulary) {
  std::size_t sum = 0;
  for (TokenId id = 0; id <= vocabulary.size(); ++id) {
    for (const char c : vocabulary.bytes(id)) sum += static_cast<unsigned>(c);
    sum += vocabulary.find(vocabulary.spelling(id)).size();
    sum += vocabulary.special(vocabulary.spelling(id)).value_or(0);
    sum += vocabulary.strips_left(id) + vocabulary.strips_right(id);
  }
  return sum + vocabulary.special_ids().size() + vocabulary.to_bytes().size();
}

// Makes masks, and each time takes the highest token that is allowed.
void walk(const Constraint& constraint, int steps) {
  std::vector<std::int32_t> row(constraint.mask_words());
  Matcher matcher = constraint.matcher();
  for (int step = 0; step < steps; ++step) {
    matcher.fill_bitmask(row);
    auto id = static_cast<TokenId>(constraint.vocabulary().size());
    while (id > 0 && !matcher.accept_token(id - 1)) --id;
  }
}

// A forged file is refused, or can be used: under a sanitizer this test reads
// what it contains.
TEST(SavedVocabulary, NoForgedTableReadsElsewhere) {
  const TemporaryFile file;
  ASSERT_TRUE(small().save(file.name()));
  const std::string bytes = file.read();
  std::mt19937 random(5);
  std::size_t refused = 0, used = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string forged = bytes;
    for (int change = 0; change < 3; ++change) {
      forged[kPlacesAt + random() % (forged.size() - kPlacesAt)] =
          static_cast<char>(random());
    }
    forge(forged);
    const Result<Vocabulary> loaded = Vocabulary::from_bytes(forged);
    const Result<Compiler> opened =
        loaded ? Compiler::create(*loaded, {.stop_ids = std::vector<TokenId>()})
               : Result<Compiler>(loaded.error());
    if (!opened) {
      ++refused;
      continue;
    }
    ++used;
    for (const Constraint& constraint :
         {*opened->compile_json_schema(R"({"pattern": "^[a-f]+$"})"),
          *opened->compile_regex("[a-z ]{3,7}(the|12)+")}) {
      walk(constraint, 3);
    }
  }
  EXPECT_GT(refused, std::size_t{20});
  EXPECT_GT(used, std::size_t{20});
}

TEST(SavedVocabulary, NoForgedByteReadsElsewhere) {
  const std::string bytes = small().to_bytes();
  std::size_t refused = 0;
  std::size_t sum = 0;
  for (std::size_t i = kPlacesAt; i < bytes.size(); ++i) {
    for (const int change : {1, 0x40, 0xFF}) {
      std::string forged = bytes;
      forged[i] = static_cast<char>(forged[i] ^ change);
      forge(forged);
      const Result<Vocabulary> loaded = Vocabulary::from_bytes(forged);
      if (loaded) {
        sum += use(*loaded);
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, std::size_t{100});
  EXPECT_GT(sum, std::size_t{100});
}

}  // namespace
}  // namespace parlance::saved_vocabulary_test

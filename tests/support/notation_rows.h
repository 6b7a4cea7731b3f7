#ifndef PARLANCE_TESTS_SUPPORT_NOTATION_ROWS_H_
#define PARLANCE_TESTS_SUPPORT_NOTATION_ROWS_H_

// The rows that the tests of every notation of grammars have, and what is
// checked of them: which texts the rules accept, and what an error says.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cfg_recogniser/earley.h"
#include "parlance/error.h"
#include "rules/rules.h"

namespace parlance::testing {

struct LanguageRow {
  std::string_view grammar;
  std::vector<std::string> accepted;
  std::vector<std::string> rejected;
};

struct ErrorRow {
  std::string_view grammar;
  ErrorCode code;
  Span span;
  std::string_view message;  // a part of it
};

// Fails for each text in `accepted` that `rules` do not accept, and for each
// in `rejected` that they do.
inline void expect_language(const rules::Rules& rules,
                            const std::vector<std::string>& accepted,
                            const std::vector<std::string>& rejected) {
  cfg_recogniser::EarleyRecogniser recogniser(rules);
  for (const std::string& text : accepted) {
    EXPECT_TRUE(recogniser.accepts(text)) << text;
  }
  for (const std::string& text : rejected) {
    EXPECT_FALSE(recogniser.accepts(text)) << text;
  }
}

// Fails if `error` has another code or span than `row`, or lacks its message.
inline void expect_error(const Error& error, const ErrorRow& row) {
  EXPECT_EQ(to_string(error.code), to_string(row.code)) << error.message;
  const Span span = error.span.value_or(Span{});
  EXPECT_EQ(span, row.span) << span.begin << ".." << span.end;
  EXPECT_NE(error.message.find(row.message), std::string::npos)
      << error.message;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_NOTATION_ROWS_H_

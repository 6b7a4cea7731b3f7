#ifndef PARLANCE_TESTS_SUPPORT_RANDOM_TAGS_H_
#define PARLANCE_TESTS_SUPPORT_RANDOM_TAGS_H_

// Random structural tags over a small world.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"

namespace parlance::testing {

// Formats whose texts are of the letters a and b.
class RandomTags {
 public:
  struct World {
    bool tokens = false;            // also formats of the tokens 0 to 3
    std::size_t longest = 2;        // letters of a marker or exclude
    std::string_view second = "b";  // what is written for the letter b
  };
  RandomTags(std::uint32_t seed, bool tokens)
      : RandomTags(seed, World{.tokens = tokens}) {}
  RandomTags(std::uint32_t seed, const World& world)
      : random_(seed), world_(world), tokens_(world.tokens) {}

  json::Value envelope() { return json::Object{{"format", format(3)}}; }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }
  std::string written(std::string_view letters) const {
    std::string out;
    for (const char letter : letters) {
      if (letter == 'b') {
        out += world_.second;
      } else {
        out += letter;
      }
    }
    return out;
  }
  std::string word(bool empty) {
    static const std::vector<std::string> words = {"a",  "b",  "ab",
                                                   "ba", "aa", ""};
    if (world_.longest > 2 && pick(2) == 0) {
      std::string out;
      for (std::size_t i = 2 + pick(world_.longest - 1); i > 0; --i) {
        out += pick(2) == 0 ? 'a' : 'b';
      }
      return written(out);
    }
    return written(words[pick(empty ? words.size() : words.size() - 1)]);
  }
  json::Value flag() { return pick(2) == 0; }
  json::Array excludes() {
    json::Array out;
    if (pick(3) == 0) out.emplace_back(word(false));
    return out;
  }
  void add_exclude_patterns(json::Object& format) {
    static const std::vector<std::string> patterns = {
        "a+b",           "ab|ba",        "b(?=a)", "^b",
        "(a|bb)a{2}",    "b[ab]+b",      "aa",     "^a*b",
        "a(?=b)[ab]{2}", "(?:ab)?(?=aa)"};
    json::Array out;
    for (std::size_t i = pick(4) == 0 ? 1 + pick(2) : 0; i > 0; --i) {
      out.emplace_back(written(patterns[pick(patterns.size())]));
    }
    if (out.size() > 0) format.set("exclude_patterns", std::move(out));
  }
  std::int64_t token() { return static_cast<std::int64_t>(pick(4)); }
  json::Value token_marker() {
    return json::Object{{"type", "token"}, {"token", token()}};
  }

  json::Value leaf() {
    switch (pick(tokens_ ? 10 : 7)) {
      case 0:
      case 1:
        return json::Object{{"type", "const_string"}, {"value", word(true)}};
      case 2:
      case 3: {
        json::Object out = {{"type", "any_text"}, {"excludes", excludes()}};
        add_exclude_patterns(out);
        if (pick(4) == 0) {
          out.set("max_chars", static_cast<std::int64_t>(pick(3)));
        }
        if (tokens_ && pick(2) == 0) {
          out.set("max_tokens", static_cast<std::int64_t>(pick(3)));
        }
        return out;
      }
      case 4:
      case 5: {
        static const std::vector<std::string> patterns = {
            "a*", "(a|ab)b?", "[ab]", "(ab)+", "a?b{1,2}", "(aa|b)*"};
        return json::Object{
            {"type", "regex"},
            {"pattern", written(patterns[pick(patterns.size())])}};
      }
      case 6:
        return json::Object{
            {"type", "grammar"},
            {"grammar",
             pick(2) == 0
                 ? "root ::= \"a\" root \"" + written("b") + "\" | \"\""
                 : "root ::= root \"a\" | \"" + written("b") + "\""}};
      case 7:
        return token_marker();
      case 8:
        return json::Object{{"type", "exclude_token"},
                            {"exclude_tokens", json::Array{token()}}};
      default: {
        json::Object out = {{"type", "any_tokens"},
                            {"exclude_tokens", json::Array{token()}}};
        if (pick(3) == 0) {
          out.set("max_tokens", static_cast<std::int64_t>(pick(3)));
        }
        return out;
      }
    }
  }
  json::Value tag(std::size_t depth, std::string begin) {
    json::Object out = {{"type", "tag"}, {"begin", std::move(begin)}};
    out.set("content", format(depth));
    if (pick(3) == 0) {
      out.set("end", json::Array{word(true), word(false)});
    } else {
      out.set("end", word(false));
    }
    return out;
  }
  json::Array list(std::size_t depth) {
    json::Array out;
    for (std::size_t i = 1 + pick(3); i > 0; --i) out.push_back(format(depth));
    return out;
  }
  json::Value format(std::size_t depth) {
    if (depth == 0) return leaf();
    --depth;
    switch (pick(tokens_ ? 14 : 11)) {
      case 0:
      case 1:
        return json::Object{{"type", "sequence"}, {"elements", list(depth)}};
      case 2:
        return json::Object{{"type", "or"}, {"elements", list(depth)}};
      case 3:
        return json::Object{{"type", "optional"}, {"content", format(depth)}};
      case 4:
        return json::Object{{"type", pick(2) == 0 ? "star" : "plus"},
                            {"content", format(depth)}};
      case 5: {
        const auto min = static_cast<std::int64_t>(pick(3));
        const auto more = static_cast<std::int64_t>(pick(3));
        return json::Object{{"type", "repeat"},
                            {"min", min},
                            {"max", pick(3) == 0 ? -1 : min + more},
                            {"content", format(depth)}};
      }
      case 6:
        return tag(depth, word(true));
      case 7: {
        json::Array tags;
        for (std::size_t i = 1 + pick(2); i > 0; --i) {
          tags.push_back(tag(depth, word(true)));
        }
        return json::Object{{"type", "tags_with_separator"},
                            {"tags", std::move(tags)},
                            {"separator", word(true)},
                            {"at_least_one", flag()},
                            {"stop_after_first", flag()}};
      }
      case 8:
      case 9: {
        const std::string trigger = word(false);
        json::Array triggers = {trigger};
        json::Array tags;
        for (std::size_t i = 1 + pick(2); i > 0; --i) {
          tags.push_back(tag(depth, trigger + word(true)));
        }
        json::Object out = {
            {"type", "triggered_tags"}, {"triggers", std::move(triggers)},
            {"tags", std::move(tags)},  {"excludes", excludes()},
            {"at_least_one", flag()},   {"stop_after_first", flag()}};
        add_exclude_patterns(out);
        return out;
      }
      case 10: {
        json::Array rules;
        for (std::size_t i = 1 + pick(2); i > 0; --i) {
          rules.push_back(json::Array{word(false), format(depth)});
        }
        json::Object out = {{"type", "dispatch"},
                            {"rules", std::move(rules)},
                            {"excludes", excludes()},
                            {"loop", flag()}};
        add_exclude_patterns(out);
        return out;
      }
      case 11: {
        json::Object out = {{"type", "tag"}, {"begin", token_marker()}};
        out.set("content", format(depth));
        out.set("end",
                pick(2) == 0 ? token_marker() : json::Value(word(false)));
        return out;
      }
      case 12: {
        json::Object inner = {{"begin", token_marker()}};
        inner.set("content", format(depth));
        inner.set("end", token_marker());
        return json::Object{{"type", "token_triggered_tags"},
                            {"trigger_tokens",
                             json::Array{*inner.find("begin")->find("token")}},
                            {"tags", json::Array{json::Value(inner)}},
                            {"at_least_one", flag()},
                            {"stop_after_first", flag()}};
      }
      default:
        return json::Object{
            {"type", "token_dispatch"},
            {"rules", json::Array{json::Array{token(), format(depth)}}},
            {"exclude_tokens", json::Array{}},
            {"loop", flag()}};
    }
  }

  std::mt19937 random_;
  const World world_;
  const bool tokens_;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_RANDOM_TAGS_H_

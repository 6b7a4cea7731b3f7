#ifndef PARLANCE_TESTS_SUPPORT_TOY_RECOGNISERS_H_
#define PARLANCE_TESTS_SUPPORT_TOY_RECOGNISERS_H_

// Small recognisers, written out by hand, that have every kind of place that a
// maker of masks knows: what it does with a place is tested with these, apart
// from what the machines of real grammars do.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recogniser/hint.h"
#include "recogniser/recogniser.h"

namespace parlance::testing {

using json::BodyState;
using recogniser::Between;
using recogniser::Configuration;
using recogniser::FreeString;
using recogniser::Hint;
using recogniser::LexemeHint;

// Texts of a finite set, byte by byte and without any statement about places.
class TextSet : public recogniser::Recogniser {
 public:
  explicit TextSet(const std::vector<std::string>& texts) {
    nodes_.resize(2);  // 0 is dead, 1 the start
    for (const std::string& text : texts) {
      std::uint32_t node = 1;
      for (const char c : text) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (!nodes_[node].next.contains(byte)) {
          nodes_[node].next[byte] = static_cast<std::uint32_t>(nodes_.size());
          nodes_.emplace_back();
        }
        node = nodes_[node].next[byte];
      }
      nodes_[node].accepts = true;
    }
  }

  Configuration start() override { return {.lex = 1}; }
  Configuration step(Configuration config, std::uint8_t byte) override {
    const auto& next = nodes_[config.lex].next;
    const auto found = next.find(byte);
    return found == next.end() ? Configuration{}
                               : Configuration{.lex = found->second};
  }
  bool can_end(Configuration config) override {
    return nodes_[config.lex].accepts;
  }
  Configuration mask_key(Configuration config, std::uint32_t) override {
    return config;
  }
  std::string expected(Configuration) override { return "a text of the set"; }
  std::size_t own_bytes() const override { return nodes_.size() * 64; }

 private:
  struct Node {
    std::map<std::uint8_t, std::uint32_t> next;
    bool accepts = false;
  };
  std::vector<Node> nodes_;
};

struct ToyJsonOptions {
  std::uint32_t max_space = 3;                 // bytes between two parts
  std::uint32_t max_chars = base::kUnbounded;  // of a string value
  std::uint32_t min_chars = 0;
  std::size_t max_depth = 4;
  // Integers of at most so many digits; nothing else is a number.
  std::uint32_t max_digits = 3;
  // What must follow the whole, after white space.
  std::string tail = "";
  // Do not tell of places: only step() is left.
  bool silent = false;
};

// JSON with these rules: the key "ab" is forbidden, and the value of "id" is a
// string of one to three small letters and then digits.  A name with an escape
// in it is another name.
class ToyJson : public recogniser::Recogniser {
 public:
  explicit ToyJson(ToyJsonOptions options = {})
      : options_(std::move(options)), frames_(2) {
    traits_.has_hints = true;
  }

  Configuration start() override {
    return place(kValue, 1, options_.max_space);
  }
  Configuration step(Configuration config, std::uint8_t byte) override {
    return config.dead() ? config : read(config, byte);
  }
  bool can_end(Configuration config) override {
    if (config.frame != 1) return false;
    const Place at = kind(config);
    if (at == kTail) return config.extra == options_.tail.size();
    return options_.tail.empty() &&
           (at == kAfter || (at == kNumber && config.count > 0));
  }
  Configuration mask_key(Configuration config, std::uint32_t longest) override {
    if (!is_body(config) || kind(config) == kKey) return config;
    if (options_.max_chars == base::kUnbounded ||
        options_.max_chars - config.count > longest) {
      if (config.count >= options_.min_chars) {
        config.count = 0x80000000;
      }
    }
    return config;
  }

  Hint hint(Configuration config) override {
    if (options_.silent) return {};
    if (is_body(config)) return {.place = string(config)};
    if (takes_space(config)) {
      Configuration no_space = config;
      no_space.count = 0;
      return {.place = Between{
                  .max_bytes = options_.max_space - config.count,
                  .json = options_.tail.empty() && options_.max_chars != 3,
                  .without_space = no_space}};
    }
    if (!is_lexeme(config)) return {};
    return {.place = LexemeHint{
                .fingerprint = base::Fingerprinter(config.lex)
                                   .add(std::uint64_t{config.count})
                                   .add(std::uint64_t{config.extra})
                                   .add(std::uint64_t{options_.max_digits})
                                   .take(),
                .end = kind(config) == kCode   ? '"'
                       : options_.tail.empty() ? LexemeHint::kJsonEnd
                                               : LexemeHint::kAnyEnd,
                .unbounded = config}};
  }
  std::optional<base::ByteSet> exception_bytes(Configuration config) override {
    if (options_.silent || kind(config) != kKey || config.extra == 0) {
      return std::nullopt;
    }
    return base::kAllBytes;
  }
  std::optional<std::uint32_t> chars_needed(Configuration from,
                                            Configuration to) override {
    if (from.frame != to.frame || !is_lexeme(to)) return std::nullopt;
    return 0;
  }
  std::string expected(Configuration) override { return "JSON"; }
  std::size_t own_bytes() const override { return frames_.size() * 32; }

 private:
  enum Place : std::uint32_t {
    kDead,
    kValue,        // a value; count: white space so far
    kFirstItem,    // a value or ]
    kFirstMember,  // a name or }
    kMember,       // a name
    kColon,
    kCodeColon,  // before the value of "id"
    kCodeValue,
    kAfter,    // a value
    kKey,      // in a name; extra: beginning of which name, 0 of none
    kString,   // count: characters so far
    kCode,     // count: letters so far, extra: 1 in the digits
    kNumber,   // count: digits so far, extra: 1 after a leading zero
    kLiteral,  // extra: which, count: bytes so far
    kTail,     // extra: bytes of options.tail so far
  };
  struct Frame {
    char kind = 0;  // [ or {
    std::uint32_t below = 0;
    std::size_t depth = 0;
    std::map<char, std::uint32_t> above;
  };
  // The beginnings of the names "ab" and "id"; a name is whole where `whole`.
  struct Name {
    char byte;
    std::uint32_t next;
    bool whole;
  };

  static Configuration place(Place at, std::uint32_t frame,
                             std::uint32_t count = 0, std::uint32_t extra = 0,
                             BodyState state = BodyState::kText) {
    return {.lex = static_cast<std::uint32_t>(at) << 8 |
                   static_cast<std::uint32_t>(state),
            .frame = frame,
            .count = count,
            .extra = extra};
  }
  static Place kind(Configuration config) {
    return static_cast<Place>(config.lex >> 8);
  }
  static BodyState state(Configuration config) {
    return static_cast<BodyState>(config.lex & 0xFF);
  }
  static bool is_body(Configuration config) {
    return kind(config) == kKey || kind(config) == kString;
  }
  static bool takes_space(Configuration config) {
    return kind(config) >= kValue && kind(config) <= kAfter;
  }

  static bool is_lexeme(Configuration config) {
    return kind(config) == kNumber || kind(config) == kCode;
  }
  FreeString string(Configuration config) const {
    FreeString view{.state = state(config)};
    if (kind(config) == kKey) {
      view.after = place(kColon, config.frame);
      view.has_exceptions = config.extra != 0;
      return view;
    }
    if (options_.max_chars != base::kUnbounded) {
      view.max_chars = options_.max_chars - config.count;
    }
    if (config.count < options_.min_chars) {
      view.min_chars = options_.min_chars - config.count;
    }
    view.after = place(kAfter, config.frame);
    return view;
  }

  std::uint32_t push(std::uint32_t frame, char opener) {
    if (frames_[frame].depth == options_.max_depth) return 0;
    const auto found = frames_[frame].above.find(opener);
    if (found != frames_[frame].above.end()) return found->second;
    const auto made = static_cast<std::uint32_t>(frames_.size());
    frames_.push_back({.kind = opener,
                       .below = frame,
                       .depth = frames_[frame].depth + 1,
                       .above = {}});
    frames_[frame].above[opener] = made;
    return made;
  }

  Configuration read(Configuration config, std::uint8_t byte) {
    const bool is_space =
        byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
    if (is_space && takes_space(config)) {
      if (config.count >= options_.max_space) return {};
      ++config.count;
      return config;
    }
    const std::uint32_t frame = config.frame;
    switch (kind(config)) {
      case kDead:
        return {};
      case kFirstItem:
        if (byte == ']') return close(frame);
        return value(frame, byte);
      case kValue:
        return value(frame, byte);
      case kFirstMember:
        if (byte == '}') return close(frame);
        return byte == '"' ? place(kKey, frame, 0, 1) : Configuration{};
      case kMember:
        return byte == '"' ? place(kKey, frame, 0, 1) : Configuration{};
      case kColon:
        return byte == ':' ? place(kValue, frame) : Configuration{};
      case kCodeColon:
        return byte == ':' ? place(kCodeValue, frame) : Configuration{};
      case kCodeValue:
        return byte == '"' ? place(kCode, frame) : Configuration{};
      case kAfter:
        return after(frame, byte);
      case kKey:
      case kString:
        return in_string(config, byte);
      case kCode:
        return in_code(config, byte);
      case kNumber:
        if (byte >= '0' && byte <= '9') {
          if (config.count >= options_.max_digits || config.extra == 1) {
            return {};
          }
          if (byte == '0' && config.count == 0) config.extra = 1;
          ++config.count;
          return config;
        }
        if (config.count == 0) return {};
        if (is_space) {
          return options_.max_space == 0 ? Configuration{}
                                         : place(kAfter, frame, 1);
        }
        return after(frame, byte);
      case kLiteral: {
        const std::string_view text = kLiterals[config.extra];
        if (byte != static_cast<std::uint8_t>(text[config.count])) return {};
        ++config.count;
        if (config.count == text.size()) return place(kAfter, frame);
        return config;
      }
      case kTail:
        if (config.extra == options_.tail.size() ||
            byte != static_cast<std::uint8_t>(options_.tail[config.extra])) {
          return {};
        }
        ++config.extra;
        return config;
    }
    return {};
  }

  Configuration close(std::uint32_t frame) {
    return place(kAfter, frames_[frame].below);
  }

  Configuration after(std::uint32_t frame, std::uint8_t byte) {
    const char opener = frames_[frame].kind;
    if (opener == 0) {
      if (options_.tail.empty() ||
          byte != static_cast<std::uint8_t>(options_.tail[0])) {
        return {};
      }
      return place(kTail, frame, 0, 1);
    }
    if (byte == ',') return place(opener == '[' ? kValue : kMember, frame);
    if (byte == (opener == '[' ? ']' : '}')) return close(frame);
    return {};
  }

  Configuration value(std::uint32_t frame, std::uint8_t byte) {
    switch (byte) {
      case '"':
        return place(kString, frame);
      case '[':
      case '{': {
        const std::uint32_t pushed = push(frame, static_cast<char>(byte));
        if (pushed == 0) return {};
        return place(byte == '[' ? kFirstItem : kFirstMember, pushed);
      }
      case '-':
        return place(kNumber, frame);
      case 't':
        return place(kLiteral, frame, 1, 0);
      case 'f':
        return place(kLiteral, frame, 1, 1);
      case 'n':
        return place(kLiteral, frame, 1, 2);
      default:
        if (byte < '0' || byte > '9') return {};
        return place(kNumber, frame, 1, byte == '0');
    }
  }

  Configuration in_string(Configuration config, std::uint8_t byte) {
    const BodyState from = state(config);
    const BodyState to = json::next(from, byte);
    const bool is_key = kind(config) == kKey;
    if (to == BodyState::kDead) return {};
    if (to == BodyState::kExit) {
      if (!is_key) {
        if (config.count < options_.min_chars) return {};
        return place(kAfter, config.frame);
      }
      if (config.extra == 3) return {};  // "ab"
      return place(config.extra == 5 ? kCodeColon : kColon, config.frame);
    }
    if (is_key) return place(kKey, config.frame, 0, name(config, byte), to);
    // A character that begins must fit.
    if (config.count >= options_.max_chars) return {};
    return place(kString, config.frame, config.count + (to == BodyState::kText),
                 0, to);
  }

  // 1 before the first byte, 2 "a", 3 "ab", 4 "i", 5 "id", 0 another name.
  static std::uint32_t name(Configuration config, std::uint8_t byte) {
    if (config.extra == 1 && byte == 'a') return 2;
    if (config.extra == 2 && byte == 'b') return 3;
    if (config.extra == 1 && byte == 'i') return 4;
    if (config.extra == 4 && byte == 'd') return 5;
    return 0;
  }

  static Configuration in_code(Configuration config, std::uint8_t byte) {
    if (byte >= 'a' && byte <= 'z' && config.extra == 0 && config.count < 3) {
      return place(kCode, config.frame, config.count + 1);
    }
    if (config.count == 0) return {};
    if (byte >= '0' && byte <= '9') {
      return place(kCode, config.frame, config.count, 1);
    }
    if (byte == '"') return place(kAfter, config.frame);
    return {};
  }

  static constexpr std::string_view kLiterals[] = {"true", "false", "null"};

  ToyJsonOptions options_;
  std::vector<Frame> frames_;  // 0: none, 1: the outermost
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_TOY_RECOGNISERS_H_

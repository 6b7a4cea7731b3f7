#ifndef PARLANCE_TESTS_SUPPORT_SLOW_TAG_PARSER_H_
#define PARLANCE_TESTS_SUPPORT_SLOW_TAG_PARSER_H_

// All readings of a text by a structural tag, in the documented order, the
// obvious way: every format gives the list of the ends that it may have and of
// the trees that lead there; a sequence tries all of the first with all of the
// second.  Exponential.
//
// A tree is written as type, span and children:  tag0-3(or1-2(1:any_text1-2())

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "structural_tag/structural_tag.h"

namespace parlance::testing {

class SlowTagParser {
 public:
  explicit SlowTagParser(const structural_tag::TagTree& tag)
      : tag_(tag), facts_(tag) {}

  // The tree of the first reading of all of `text`, "" if there is none.
  // Nothing when there are too many readings.
  std::optional<std::string> read(std::string_view text) {
    text_ = text;
    too_many_ = false;
    const Readings all = format(structural_tag::TagNodeId{0}, 0);
    if (too_many_) return std::nullopt;
    for (const Reading& one : all) {
      if (one.end == text.size()) return one.tree;
    }
    return "";
  }

 private:
  struct Reading {
    std::size_t end = 0;
    std::string tree;  // of a list: its members
  };
  using Readings = std::vector<Reading>;
  using Id = structural_tag::TagNodeId;
  static constexpr std::size_t kTooMany = 20000;

  void add(Readings& out, Reading one) {
    if (out.size() > kTooMany) too_many_ = true;
    if (!too_many_) out.push_back(std::move(one));
  }
  void add_all(Readings& out, const Readings& more) {
    for (const Reading& one : more) add(out, one);
  }

  // Each of `first` with each of what follows it.
  Readings then(const Readings& first,
                const std::function<Readings(std::size_t)>& next) {
    Readings out;
    for (const Reading& a : first) {
      for (const Reading& b : next(a.end)) {
        const bool both = !a.tree.empty() && !b.tree.empty();
        add(out, {b.end, a.tree + (both ? " " : "") + b.tree});
      }
    }
    return out;
  }
  Readings literal(std::string_view word, std::size_t at) const {
    if (!text_.substr(at).starts_with(word)) return {};
    return {{at + word.size(), ""}};
  }
  Readings node(Id id, std::size_t at, const Readings& inside,
                std::string_view prefix = "") {
    Readings out;
    for (const Reading& one : inside) {
      add(out, {one.end, std::string(prefix) +
                             std::string(to_string(tag_[id].type)) +
                             std::to_string(at) + "-" +
                             std::to_string(one.end) + "(" + one.tree + ")"});
    }
    return out;
  }
  Readings child(Id id, std::size_t index, std::size_t at) {
    Readings out = format(tag_[id].children[index], at);
    for (Reading& one : out) one.tree = std::to_string(index) + ":" + one.tree;
    return out;
  }

  // Repetitions of what is not empty, between min and max, as many as can be.
  Readings repeat(const std::function<Readings(std::size_t)>& one,
                  std::size_t at, std::uint32_t min, std::uint32_t max) {
    Readings out;
    if (max > 0) {
      const Readings first = one(at);
      for (const Reading& a : first) {
        if (a.end == at) continue;
        const Readings more =
            repeat(one, a.end, min == 0 ? 0 : min - 1,
                   max == structural_tag::kUnbounded ? max : max - 1);
        for (const Reading& b : more) {
          add(out, {b.end, a.tree + (b.tree.empty() ? "" : " ") + b.tree});
        }
      }
    }
    if (min == 0) add(out, {at, ""});
    return out;
  }
  bool nullable(Id id) {
    const std::string_view text = text_;
    text_ = text_.substr(0, 0);
    const bool out = !format(id, 0).empty();
    text_ = text;
    return out;
  }
  Readings loop(Id id, std::size_t at, std::uint32_t min, std::uint32_t max) {
    const Id body = tag_[id].children[0];
    return repeat([&](std::size_t from) { return format(body, from); }, at,
                  nullable(body) ? 0 : min, max);
  }

  // Whether the text from `at` to `end` is free text of the node: none of the
  // words, and no match of the node's patterns.
  bool free(Id id, std::size_t at, std::size_t end,
            const std::vector<std::string>& words) {
    const std::string_view part = text_.substr(at, end - at);
    if (!base::is_utf8(part)) return false;
    for (const std::string& pattern :
         structural_tag::exclude_patterns_of(tag_[id])) {
      const auto known = patterns_.try_emplace(pattern, pattern).first;
      if (std::regex_search(part.begin(), part.end(), known->second)) {
        return false;
      }
    }
    return std::none_of(words.begin(), words.end(), [&](const auto& word) {
      return part.find(word) != std::string_view::npos;
    });
  }

  const Grammar& leaf(Id id) {
    auto& known = leaves_[index_of(id)];
    if (known) return *known;
    const structural_tag::TagNode& format = tag_[id];
    if (format.type == structural_tag::TagNodeType::kRegex) {
      known =
          *Grammar::from_regex(format.as<structural_tag::RegexBody>().pattern);
    } else if (format.type == structural_tag::TagNodeType::kGrammar) {
      known =
          *Grammar::from_ebnf(format.as<structural_tag::GrammarBody>().source);
    } else {
      JsonSchemaOptions options;
      options.closed = true;
      options.key_order = KeyOrder::kSchema;
      known = *Grammar::from_json_schema(
          format.as<structural_tag::JsonSchemaBody>().schema, options);
    }
    return *known;
  }

  Readings tag(Id id, std::size_t at, std::string_view prefix = "") {
    const auto& body = tag_[id].as<structural_tag::TagBody>();
    const Readings inside =
        then(literal(body.begin.texts[0], at), [&](std::size_t rest) {
          return then(format(tag_[id].children[0], rest), [&](std::size_t end) {
            Readings out;
            for (const std::string& word : body.end.texts) {
              add_all(out, literal(word, end));
            }
            return out;
          });
        });
    return node(id, at, inside, prefix);
  }

  Readings tags_at(Id id, std::size_t at) {
    Readings out;
    for (std::size_t i = 0; i < tag_[id].children.size(); ++i) {
      add_all(out, tag(tag_[id].children[i], at, std::to_string(i) + ":"));
    }
    return out;
  }

  Readings separated(Id id, std::size_t at) {
    const auto& body = tag_[id].as<structural_tag::TagsWithSeparator>();
    Readings out;
    if (!body.loop) {
      out = tags_at(id, at);
    } else {
      out = then(tags_at(id, at), [&](std::size_t from) {
        return repeat(
            [&](std::size_t next) {
              return then(literal(body.separator, next),
                          [&](std::size_t t) { return tags_at(id, t); });
            },
            from, 0, structural_tag::kUnbounded);
      });
    }
    if (!body.at_least_one) add(out, {at, ""});
    return out;
  }

  std::string text_part(std::size_t begin, std::size_t end) const {
    if (begin == end) return "";
    return "text" + std::to_string(begin) + "-" + std::to_string(end) + "()";
  }

  // Text and the content of its trigger, then the same again if the tag
  // permits it; or the last text.
  Readings triggered(Id id, std::size_t at) {
    const structural_tag::TagNode& format = tag_[id];
    const bool rule = format.type == structural_tag::TagNodeType::kDispatch;
    const auto& body = format.as<structural_tag::TextTriggers>();
    const std::vector<std::string>& triggers = body.triggers;
    const std::vector<std::string> excludes = facts_.excluded_texts(id);
    std::vector<std::string> all = triggers;
    all.insert(all.end(), excludes.begin(), excludes.end());
    const auto ends_with_trigger = [&](std::size_t from, std::size_t end) {
      // No word before, and no exclude here.
      if (end > from && !free(id, from, end - 1, all)) return false;
      return free(id, from, end, excludes);
    };
    Readings out;
    for (std::size_t from = at; from <= text_.size(); ++from) {
      for (std::size_t i = 0; i < format.children.size(); ++i) {
        const std::string begin = rule ? triggers[i]
                                       : tag_[format.children[i]]
                                             .as<structural_tag::TagBody>()
                                             .begin.texts[0];
        // The shortest trigger that it begins with.
        std::size_t shortest = 0;
        for (const std::string& word : triggers) {
          if (begin.starts_with(word) &&
              (shortest == 0 || word.size() < shortest)) {
            shortest = word.size();
          }
        }
        if (!text_.substr(from).starts_with(begin)) continue;
        if (!ends_with_trigger(at, from + shortest)) continue;
        Readings one;
        if (rule) {
          one = this->format(format.children[i], from + begin.size());
          for (Reading& r : one) {
            r.tree = std::to_string(i) + ":rule" + std::to_string(from) + "-" +
                     std::to_string(r.end) + "(" + r.tree + ")";
          }
        } else {
          one = tag(format.children[i], from, std::to_string(i) + ":");
        }
        const std::string before = text_part(at, from);
        for (Reading& r : one) {
          if (!before.empty()) r.tree = before + " " + r.tree;
        }
        if (body.loop) {
          one = then(one, [&](std::size_t end) { return triggered(id, end); });
        }
        add_all(out, one);
      }
    }
    for (std::size_t end = at; end <= text_.size(); ++end) {
      if (free(id, at, end, all)) add(out, {end, text_part(at, end)});
    }
    return out;
  }

  Readings triggered_whole(Id id, std::size_t at) {
    if (tag_[id].type == structural_tag::TagNodeType::kDispatch) {
      return triggered(id, at);
    }
    const auto& body = tag_[id].as<structural_tag::TextTriggers>();
    if (!body.at_least_one) return triggered(id, at);
    if (!body.loop) return tags_at(id, at);
    return then(tags_at(id, at),
                [&](std::size_t end) { return triggered(id, end); });
  }

  Readings format(Id id, std::size_t at) {
    if (too_many_) return {};
    using structural_tag::TagNodeType;
    const structural_tag::TagNode& self = tag_[id];
    Readings inside;
    switch (self.type) {
      case TagNodeType::kConstString:
        inside = literal(self.as<structural_tag::ConstString>().value, at);
        break;
      case TagNodeType::kRegex:
      case TagNodeType::kGrammar:
      case TagNodeType::kJsonSchema:
        for (std::size_t end = text_.size() + 1; end-- > at;) {
          if (leaf(id).accepts(text_.substr(at, end - at))) {
            add(inside, {end, ""});
          }
        }
        break;
      case TagNodeType::kAnyText: {
        const auto& body = self.as<structural_tag::AnyText>();
        const std::size_t most =
            body.max_tokens == 0u ? 0 : body.max_chars.value_or(1000);
        for (std::size_t end = at; end <= text_.size(); ++end) {
          if (free(id, at, end, facts_.excluded_texts(id)) &&
              base::count_code_points(text_.substr(at, end - at)) <= most) {
            add(inside, {end, ""});
          }
        }
        break;
      }
      case TagNodeType::kSequence:
        inside = {{at, ""}};
        for (const Id child : self.children) {
          inside = then(inside,
                        [&](std::size_t from) { return format(child, from); });
        }
        break;
      case TagNodeType::kOr:
        for (std::size_t i = 0; i < self.children.size(); ++i) {
          add_all(inside, child(id, i, at));
        }
        break;
      case TagNodeType::kOptional:
        inside = format(self.children[0], at);
        add(inside, {at, ""});
        break;
      case TagNodeType::kPlus:
      case TagNodeType::kStar:
      case TagNodeType::kRepeat: {
        const auto& body = self.as<structural_tag::Repetition>();
        inside = loop(id, at, body.min, body.max);
        break;
      }
      case TagNodeType::kTag:
        return tag(id, at);
      case TagNodeType::kTagsWithSeparator:
        inside = separated(id, at);
        break;
      case TagNodeType::kTriggeredTags:
      case TagNodeType::kDispatch:
        inside = triggered_whole(id, at);
        break;
      default:
        break;  // tokens match no text
    }
    return node(id, at, inside);
  }

  const structural_tag::TagTree& tag_;
  const structural_tag::TagAnalysis facts_;
  std::string_view text_;
  bool too_many_ = false;
  std::map<std::string, std::regex> patterns_;
  std::map<std::size_t, std::optional<Grammar>> leaves_;
};

// A node of TagParser::tree() in the same writing.
inline std::string written_tree(const json::Value& node) {
  if (node.is_null()) return "";
  const json::Array& span = node.find("span")->items();
  std::string out;
  const json::Value* index = node.find("index");
  const std::string type(node.find("type")->as_string());
  if (index != nullptr && type != "or") out = json::dump(*index) + ":";
  out += type + json::dump(span[0]) + "-" + json::dump(span[1]) + "(";
  std::string inside;
  for (const char* key : {"content", "elements", "items", "parts", "tags"}) {
    const json::Value* value = node.find(key);
    if (value == nullptr) continue;
    if (value->is_array()) {
      for (const json::Value& item : value->items()) {
        inside += (inside.empty() ? "" : " ") + written_tree(item);
      }
    } else {
      if (type == "or") inside += json::dump(*index) + ":";
      inside += written_tree(*value);
    }
  }
  return out + inside + ")";
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_SLOW_TAG_PARSER_H_

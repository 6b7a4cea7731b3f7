#include "call_syntax/value_builder.h"

#include <utility>

#include "call_syntax/encoding.h"

namespace parlance::call_syntax {

void ValueBuilder::key(std::string_view text) {
  if (open_.empty() || !open_.back().container.is_object()) return;
  Frame& in = open_.back();
  repeats_ = in.container.find(text) != nullptr;
  in.key = text;
}

void ValueBuilder::value(json::Value value) {
  if (complete_) return;
  if (open_.empty()) {
    root_ = std::move(value);
    complete_ = true;
    return;
  }
  Frame& in = open_.back();
  if (in.container.is_object()) {
    in.container.mutable_members().set(std::move(in.key), std::move(value));
  } else {
    in.container.mutable_items().push_back(std::move(value));
  }
}

json::Value ValueBuilder::take() {
  complete_ = repeats_ = false;
  return std::move(root_);
}

void ValueBuilder::add(const Token& token, const Input& input) {
  if (complete_ || error_) return;
  const std::string_view span = input.slice(token.begin, token.end);
  switch (token.kind) {
    case Kind::kObject:
      open_.push_back({json::Value(json::Object())});
      return;
    case Kind::kList:
      open_.push_back({json::Value(json::Array())});
      return;
    case Kind::kClose: {
      if (open_.empty()) return;
      json::Value done = std::move(open_.back().container);
      open_.pop_back();
      return value(std::move(done));
    }
    case Kind::kKey: {
      std::string text;
      append_text(text, span, token.encoding);
      return key(text);
    }
    case Kind::kScalar: {
      Result<json::Value> known = scalar_value(span, token.encoding, limits_);
      if (!known) {
        error_ = std::move(known).error();
        return;
      }
      return value(*std::move(known));
    }
    case Kind::kTextBegin:
      text_.clear();
      return;
    case Kind::kText:
      return append_text(text_, span, token.encoding);
    case Kind::kTextEnd:
      return value(json::Value(std::exchange(text_, {})));
    default:
      return;
  }
}

}  // namespace parlance::call_syntax

// Words for what may come: see expected.h.

#include "json_recogniser/expected.h"

#include <string_view>

#include "parlance/json.h"

namespace parlance::json_recogniser {

namespace {

void add_to_list(std::string& list, std::string_view what) {
  if (!list.empty()) list += ", ";
  list += what;
}

// Whether a byte of [first, last] other than `except` may come.
bool any_of(const MayCome& may_come, unsigned first, unsigned last,
            char except = '\0') {
  for (unsigned byte = first; byte <= last; ++byte) {
    if (byte == static_cast<std::uint8_t>(except)) continue;
    if (may_come(static_cast<std::uint8_t>(byte))) return true;
  }
  return false;
}

}  // namespace

std::string expected_in_raw(const MayCome& may_come) {
  return any_of(may_come, 0, 255) ? "text" : "the end of the text";
}

std::string expected_in_string(const MayCome& may_come) {
  std::string list;
  if (any_of(may_come, ' ', 255, '"')) add_to_list(list, "more of a string");
  if (may_come('"')) add_to_list(list, "its closing quote");
  return list;
}

std::string expected_in_key(const Lexeme& lexeme, const KeyTrie& trie,
                            schema_solver::KeySet allowed,
                            const schema_solver::SchemaSolver& solver) {
  std::string list;
  // A few names, since there may be thousands, and each may be long.
  constexpr std::size_t kMostNames = 12;
  constexpr std::size_t kMostBytes = 1000;
  std::size_t names = 0;
  std::size_t more = 0;
  if (lexeme.node != KeyTrie::kNone) {
    const KeyTrie::Node& node = trie.node(lexeme.node);
    for (std::uint32_t i = node.first; i < node.last; ++i) {
      if (!solver.key_sets().contains(allowed, trie.keys()[i])) continue;
      const std::string& name = solver.names().text(trie.keys()[i]);
      if (names == kMostNames || list.size() + name.size() > kMostBytes) {
        ++more;
        continue;
      }
      ++names;
      add_to_list(list, "the name " + json::dump(name));
    }
  }
  if (more > 0) {
    add_to_list(list, "one of " + std::to_string(more) +
                          (names > 0 ? " more names" : " names"));
  }
  if (lexeme.open || lexeme.extras != automata::kDeadState) {
    add_to_list(list, list.empty() ? "a name" : "another name");
  }
  return list;
}

// In exact layout only a byte of the layout may be possible, so these come
// last.
std::string expected_bytes(Kind kind, bool can_end, bool exact,
                           const MayCome& may_come) {
  std::string list;
  const auto can = [&](char byte) {
    return may_come(static_cast<std::uint8_t>(byte));
  };
  const auto try_byte = [&](char byte, std::string_view what) {
    if (can(byte)) add_to_list(list, what);
  };
  const bool value = kind < Kind::kKeyFirst;
  try_byte('"', value ? "a string" : "a name");
  if (kind == Kind::kNumber) {
    if (any_of(may_come, '0', '9')) add_to_list(list, "a digit");
    if (can('+') || can('-')) add_to_list(list, "a sign");
  } else if (value && (can('-') || any_of(may_come, '0', '9'))) {
    add_to_list(list, "a number");
  }
  try_byte('{', "an object");
  try_byte('[', "an array");
  try_byte('t', "true");
  try_byte('f', "false");
  try_byte('n', "null");
  try_byte('.', "'.'");
  try_byte('e', "an exponent");
  try_byte(':', "':'");
  try_byte(',', "','");
  try_byte('}', "'}'");
  try_byte(']', "']'");
  if (can_end) add_to_list(list, "the end");
  if (list.empty() && exact) {
    try_byte(' ', "a space");
    try_byte('\n', "a line break");
    if (list.empty()) add_to_list(list, "more of a separator");
  }
  return list;
}

}  // namespace parlance::json_recogniser

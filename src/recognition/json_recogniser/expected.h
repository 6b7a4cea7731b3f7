#ifndef PARLANCE_SRC_JSON_RECOGNISER_EXPECTED_H_
#define PARLANCE_SRC_JSON_RECOGNISER_EXPECTED_H_

// The texts that may come next, as a list for people.  The state of the lexeme
// decides which continuations are worth a name; the recogniser's step() decides
// which of them are possible.

#include <cstdint>
#include <functional>
#include <string>

#include "json_recogniser/key_trie.h"
#include "json_recogniser/lexeme.h"
#include "schema_solver/key_sets.h"
#include "schema_solver/solver.h"

namespace parlance::json_recogniser {

// Whether a byte may come.
using MayCome = std::function<bool(std::uint8_t)>;

std::string expected_in_raw(const MayCome& may_come);
std::string expected_in_string(const MayCome& may_come);
// `allowed`: the keys of the trie that the frame allows.
std::string expected_in_key(const Lexeme& lexeme, const KeyTrie& trie,
                            schema_solver::KeySet allowed,
                            const schema_solver::SchemaSolver& solver);
// Numbers, and between lexemes.  `exact`: the layout is.
std::string expected_bytes(Kind kind, bool can_end, bool exact,
                           const MayCome& may_come);

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_EXPECTED_H_

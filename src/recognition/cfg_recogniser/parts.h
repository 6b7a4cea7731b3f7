#ifndef PARLANCE_SRC_CFG_RECOGNISER_PARTS_H_
#define PARLANCE_SRC_CFG_RECOGNISER_PARTS_H_

// The schemas inside a grammar: the recognisers that read their texts.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/table_memory.h"
#include "recogniser/language.h"
#include "recogniser/recogniser.h"

namespace parlance::cfg_recogniser {

// A recogniser that lets the classes of this room lock its parts.
class PartOwner : public recogniser::Recogniser {
 public:
  using Recogniser::lock_part;
  using Recogniser::release;
};

// By index of rules::Rules::schemas: null matches nothing.
using Languages = std::vector<std::shared_ptr<recogniser::Language>>;
using PartTables = std::vector<std::shared_ptr<recogniser::Recogniser>>;

// Tables with room; for equal languages the same.
PartTables tables_of(const Languages& languages);

// A configuration of a part, as Item::inner of an item in its text; 0: its
// start.
using PartConfigId = base::Id<struct PartConfigTag>;

// Owns the tables of the parts in use, and the configurations that items refer
// to.  A part is locked when it is asked for, and one at a time: a reference to
// it is not to be used after another part may have been asked for.
class Parts {
 public:
  Parts(PartOwner& owner, const NetworkFacts& facts, const Languages& languages,
        PartTables tables, TableMemory& memory);

  // The part that reads at a state with Action::kSchema, locked.
  recogniser::Recogniser& at(const NetworkState& state) {
    return owner_.lock_part(*tables_[state.index]);
  }
  recogniser::Recogniser& at(StateId state) {
    return at(facts_.network.states[state]);
  }
  // The same, not locked.
  recogniser::Recogniser& unlocked(const NetworkState& state) const {
    return *tables_[state.index];
  }

  // Where `item` is in the text of `part`, which is that of its state.
  recogniser::Configuration config_of(const Item& item,
                                      recogniser::Recogniser& part) const {
    return item.inner == 0 ? part.start() : configs_[item.inner];
  }
  // The same, where nothing else is asked of the part.
  recogniser::Configuration config_of(const Item& item) {
    return item.inner == 0 ? at(item.state).start() : configs_[item.inner];
  }
  recogniser::Configuration operator[](PartConfigId id) const {
    return configs_[id];
  }
  PartConfigId intern(recogniser::Configuration config);

  const Languages& languages() const { return languages_; }

 private:
  PartOwner& owner_;
  const NetworkFacts& facts_;
  TableMemory& memory_;
  const Languages languages_;
  const PartTables tables_;
  std::vector<recogniser::Configuration> configs_;
  std::unordered_map<std::string, PartConfigId> config_of_;
};

// Whether some byte continues the text of a part.
bool can_continue(recogniser::Recogniser& part,
                  recogniser::Configuration config);

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_PARTS_H_

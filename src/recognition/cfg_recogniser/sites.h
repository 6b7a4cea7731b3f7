#ifndef PARLANCE_SRC_CFG_RECOGNISER_SITES_H_
#define PARLANCE_SRC_CFG_RECOGNISER_SITES_H_

// Configurations inside the texts of schemas.
//
// Where only the text of a schema can continue, the configuration is that of
// the schema's recogniser.  Its `lex` has the bit kInside beside the bits of
// the schema's configuration, and its `frame` is a pair of the site, which says
// what follows the text, and of the schema's frame.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/block_vector.h"
#include "base/id.h"
#include "cfg_recogniser/items.h"
#include "cfg_recogniser/network_facts.h"
#include "cfg_recogniser/parts.h"
#include "cfg_recogniser/read_sets.h"
#include "cfg_recogniser/table_memory.h"
#include "recogniser/recogniser.h"

namespace parlance::cfg_recogniser {

// A position in a text where the text of a schema begins, identified by an
// item, and what is known about what follows that text.
struct SchemaSite {
  // The configuration after the text of the schema.
  struct Exit {
    recogniser::Configuration config = {};
    bool ends_numbers = false;  // nothing that follows continues a number
    std::vector<ReadSetId> read_sets = {};  // that `config` depends on
  };

  StateId state = {};
  ContextId context = {};
  std::optional<Exit> exit = {};  // once known
  std::string forced_text = {};   // must follow the schema's text
};
using SiteId = base::Id<SchemaSite>;

inline constexpr std::uint32_t kInside = recogniser::Configuration::kInPart;
inline bool is_inside(recogniser::Configuration config) {
  return config.in_part();
}

// Owns the sites, and the pairs of a site and a frame.  The recogniser asks it
// for all configurations inside; the exits are computed there, and kept here.
//
// Invariant: the state, the context and the text of a site never change, and
// sites are never moved.
class Sites {
 public:
  using ByteClassTable = recogniser::Recogniser::ByteClassTable;

  Sites(const NetworkFacts& facts, Parts& parts, TableMemory& memory)
      : facts_(facts), parts_(parts), memory_(memory) {}

  SiteId intern(StateId state, ContextId context);
  // The configuration of an item of a schema that stands alone.
  recogniser::Configuration enter(const Item& item);
  // Whether `items` are one item of a schema.
  bool is_entered_by(std::span<const Item> items) const {
    return items.size() == 1 &&
           facts_.state_of(items[0]).action == Action::kSchema;
  }

  // REQUIRES for what follows: is_inside(config).
  SiteId id_of(recogniser::Configuration config) const {
    return frames_[config.frame].site;
  }
  // Valid as long as the table.
  const SchemaSite& of(recogniser::Configuration config) const {
    return sites_[id_of(config)];
  }
  // The part that reads there, locked: see Parts.
  recogniser::Recogniser& part_of(recogniser::Configuration config) {
    return parts_.at(of(config).state);
  }
  // The part's configuration.
  recogniser::Configuration unwrap(recogniser::Configuration config) const {
    return {config.lex & ~kInside, frames_[config.frame].frame, config.count,
            config.extra};
  }
  // From the part's configuration; dead if that is.
  recogniser::Configuration wrap(SiteId site, recogniser::Configuration inner);
  // wrap() of the site of `like` with another inner configuration.
  recogniser::Configuration with_inner(recogniser::Configuration like,
                                       recogniser::Configuration inner);
  // Whether only the text of the schema can continue, and cannot end here.
  bool is_only_inside(recogniser::Configuration config) {
    return is_inside(config) && !part_of(config).can_end(unwrap(config));
  }

  void set_exit(SiteId id, SchemaSite::Exit exit) {
    sites_[id].exit = std::move(exit);
  }
  // The byte classes of a configuration where the text of the schema may end,
  // as set_classes() had them; null: not yet.
  const ByteClassTable* find_classes(recogniser::Configuration config) const;
  const ByteClassTable* set_classes(recogniser::Configuration config,
                                    const ByteClassTable& classes);

 private:
  struct SiteFrame {
    SiteId site = {};
    std::uint32_t frame = 0;  // the part's
  };

  std::uint64_t classes_key(recogniser::Configuration config) const {
    return pair_key(id_of(config), config.lex & ~kInside);
  }

  const NetworkFacts& facts_;
  Parts& parts_;
  TableMemory& memory_;
  base::BlockVector<SchemaSite> sites_;
  std::unordered_map<std::uint64_t, SiteId> id_of_item_;
  base::BlockVector<SiteFrame> frames_;
  std::unordered_map<std::uint64_t, std::uint32_t> id_of_frame_;
  // By site and state of the schema.
  std::unordered_map<std::uint64_t, std::unique_ptr<ByteClassTable>> classes_;
};

}  // namespace parlance::cfg_recogniser

#endif  // PARLANCE_SRC_CFG_RECOGNISER_SITES_H_

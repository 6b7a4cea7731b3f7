#ifndef PARLANCE_SRC_RECOGNISER_COMPOSITE_H_
#define PARLANCE_SRC_RECOGNISER_COMPOSITE_H_

// What a recogniser that contains others knows about its configurations: which
// part reads there, and which configurations have the same mask.
//
// A recogniser may delegate to other recognisers, its parts, and recognisers of
// several grammars may share a part.  A recogniser locks a part when it uses
// the part, and holds at most one of them: it unlocks a part before it locks
// the next, so two recognisers never deadlock over their parts.
//
// Two relations between configurations, for masks:
//   part_at()          same part at the same configuration, whichever grammar
//                      uses the part
//   mask_equivalent()  same mask, found by tracking what a mask depends on

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_set.h"
#include "recogniser/configuration.h"

namespace parlance::recogniser {

class Recogniser;

class Composite {
 public:
  virtual ~Composite() = default;

  // The recognisers that this one delegates to, without duplicates.
  virtual std::span<const std::shared_ptr<Recogniser>> parts() const = 0;

  // Where a part reads.
  struct PartPosition {
    Recogniser* part = nullptr;  // null: no part reads
    Configuration config = {};   // of the part
    // Where the part stands: equal sites are followed by the same texts.
    std::uint32_t site = 0;
  };
  // The part that reads at `config`.  It reads alone, unless its text may end
  // there.  The part is locked until another one is used, or release().
  virtual PartPosition part_at(Configuration config) = 0;
  // The configuration of this recogniser in which the part that reads at `like`
  // is at `inner`; dead if `inner` is.
  // REQUIRES: part_at(like).part is not null.
  virtual Configuration with_part_at(Configuration like,
                                     Configuration inner) = 0;

  // The text that must follow that of the part which reads at `config`.
  virtual std::string_view text_after_part(Configuration config) = 0;
  // Whether that text cannot begin with a byte that continues a number.
  virtual bool number_ends_with_part(Configuration config) = 0;

  // For each byte, the least byte of its class: bytes of one class lead from
  // `config` to the same configuration.  Null if they are not known.  Valid as
  // long as the recogniser.
  virtual const std::array<std::uint8_t, 256>* byte_classes_at(Configuration) {
    return nullptr;
  }
  // The bytes that step() accepts from `config`, found without a step.  Null if
  // they are not known.  Valid as long as the recogniser.
  virtual const base::ByteSet* readable_bytes_at(Configuration) {
    return nullptr;
  }
  // A configuration from which all bytes but a few lead to what they lead to
  // from `config`; dead if none is known.
  struct Base {
    Configuration config = {};
    const base::ByteSet* others =
        nullptr;  // the few; as long as the recogniser
  };
  virtual Base base_at(Configuration) { return {}; }
  // Bytes of which every text, of whole characters, can be read from `config`.
  // Of the bytes beyond ASCII it contains all or none.  May be empty where such
  // bytes are hard to find.
  virtual base::ByteSet repeatable_bytes(Configuration) { return {}; }
  // All bytes that occur in some text, and maybe others.
  virtual base::ByteSet alphabet() const { return base::kAllBytes; }

  // A configuration that provably has the same mask as `config`: one
  // representative of its class, or `config` itself if none is known.
  //
  // The classes are learnt.  While a mask is made between begin_tracking() and
  // end_tracking(config), the recogniser records what the results depend on;
  // configurations that agree on all of that are equivalent.
  virtual Configuration mask_equivalent(Configuration config) = 0;
  virtual void begin_tracking() = 0;
  // Ends what begin_tracking() began.  Returns whether results depended on what
  // follows the text of a part.
  virtual bool end_tracking(Configuration config) = 0;
  // Between the two: results depend on all that the mask of `config` depends
  // on.  False if that is not known.  REQUIRES: the mask is one of those that
  // mask_equivalent() is about.
  virtual bool track_mask_of(Configuration config) = 0;

  // Whether the grammar names tokens by their ids, other than as marks.
  virtual bool names_tokens() const { return false; }
  // As Recogniser::step_token() of a token without bytes, but dead where the
  // grammar does not name the token: any tokens but some name none.
  virtual Configuration step_named(Configuration, std::uint32_t /*id*/) {
    return {};
  }

  // Whether some rule of the grammar has a temperature.
  virtual bool has_temperatures() const { return false; }
  // The temperature of the next symbol.  Each derivation that can read one has
  // the temperature of its innermost open rule with a temperature; the result
  // is the largest of them, null if there is none.
  virtual std::optional<double> temperature(Configuration) {
    return std::nullopt;
  }
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_COMPOSITE_H_

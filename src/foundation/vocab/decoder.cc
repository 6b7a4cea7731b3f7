// DecoderReader translates the stages of a decoder section to steps.  It
// refuses a stage whose result for one piece would depend on other pieces.
// Decoder::run() applies the steps to a piece.

#include "vocab/decoder.h"

#include <array>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "vocab/json_pointer.h"
#include "vocab/table.h"

namespace parlance::vocab {
namespace {

using base::hex_digit;

constexpr std::string_view kMetaspace = "\xE2\x96\x81";  // U+2581

// GPT-2 writes bytes as printable characters: a printable byte of Latin-1 is
// the character of that number, the 68 others are U+0100.. in byte order.
// -1: no byte.
constexpr std::size_t kTableSize = 0x144;
constexpr std::array<std::int16_t, kTableSize> make_byte_table() {
  std::array<std::int16_t, kTableSize> table{};
  table.fill(-1);
  std::size_t next = 0x100;
  for (std::int16_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) ||
                           (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    table[printable ? static_cast<std::size_t>(byte) : next++] = byte;
  }
  return table;
}
constexpr std::array<std::int16_t, kTableSize> kByteTable = make_byte_table();
static_assert(kByteTable[0x120] == ' ' && kByteTable[0x143] == 0xAD);

// Replaces `text` by its bytes if every character is in the table.
void map_byte_level(std::string& text) {
  std::string mapped;
  mapped.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = base::next_code_point(text, i);
    if (c >= kTableSize || kByteTable[c] < 0) return;
    mapped += static_cast<char>(kByteTable[c]);
  }
  text = std::move(mapped);
}

// Published decoders have at most six stages, and no stage makes a piece
// longer. A hostile file could have stages that each multiply the size of a
// piece, or many stages and many pieces.  The bounds limit the memory and time
// for both.
constexpr std::size_t kMaxStages = 64;
constexpr std::size_t kMaxGrownBytes = std::size_t{1} << 16;
constexpr std::uint64_t kMaxWork = std::uint64_t{1} << 30;

// Returns false if the text grows beyond kMaxGrownBytes.
bool replace_all(std::string& text, std::string_view from,
                 std::string_view to) {
  std::size_t found = text.find(from);
  if (found == std::string::npos) return true;
  const std::string_view old = text;
  std::string out;
  std::size_t done = 0;
  for (; found != std::string::npos; found = old.find(from, done)) {
    out += old.substr(done, found - done);
    out += to;
    done = found + from.size();
    if (out.size() > kMaxGrownBytes && out.size() > done) return false;
  }
  out += old.substr(done);
  text = std::move(out);
  return true;
}

void strip(std::string& text, std::string_view what, std::size_t start,
           std::size_t stop) {
  while (stop-- > 0 && text.ends_with(what)) {
    text.resize(text.size() - what.size());
  }
  std::size_t cut = 0;
  while (start-- > 0 && std::string_view(text).substr(cut).starts_with(what)) {
    cut += what.size();
  }
  text.erase(0, cut);
}

Error too_large(std::string message) {
  return Error{.code = ErrorCode::kTooLarge,
               .message = std::move(message),
               .path = "/decoder"};
}

Error refusal(std::string path, std::string message) {
  return Error{.code = ErrorCode::kBadVocabulary,
               .message = std::move(message),
               .path = std::move(path)};
}

bool is_one_character(std::string_view text) {
  if (text.empty()) return false;
  std::size_t i = 0;
  base::next_code_point(text, i);
  return i == text.size();
}

}  // namespace

std::optional<char> fallback_byte(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') {
    return std::nullopt;
  }
  const int high = hex_digit(piece[3]);
  const int low = hex_digit(piece[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high << 4 | low);
}

// Reads the stages in order.  The input of a stage decides whether the stage
// can be a function of one piece, so the reader tracks what the stages before
// it produce:
//
//   kPieces  each piece by itself
//   kRuns    the same, but adjacent bytes are joined to one piece, after
//            ByteFallback
//   kText    the whole text as one piece, after Fuse
//   kBytes   the same, and a character may be split between tokens, after
//            ByteLevel
//   kBegun   the whole text without its first space, after Strip; only Fuse may
//            follow
//
// sees_ is the input of the next stage and never decreases.
class DecoderReader {
 public:
  Result<Decoder> read(const json::Value& tokenizer) {
    const json::Value* decoder = member(tokenizer, "decoder");
    if (decoder == nullptr) {
      // The pieces are joined with spaces.
      decoder_.stages_.push_back({.step = Decoder::Step::kSpaceBefore});
      decoder_.strips_leading_space_ = true;
    } else if (auto error = read_stages(*decoder)) {
      return *std::move(error);
    }
    if (auto error = read_model(tokenizer)) return *std::move(error);
    if (auto error = read_normalizer(tokenizer)) return *std::move(error);
    if (auto error = read_pre_tokenizer(tokenizer)) return *std::move(error);
    return std::move(decoder_);
  }

 private:
  using Step = Decoder::Step;
  enum class Sees { kPieces, kRuns, kText, kBytes, kBegun };

  struct Pending {
    const json::Value* value;
    std::string path;
  };

  // Calls `leaf(value, type, path)` for each stage that is not a Sequence, in
  // order.  Sequences may be nested; `pending` replaces the recursion.
  template <class Leaf>
  static std::optional<Error> walk(const json::Value& root, std::string path,
                                   std::string_view list_key, Leaf leaf) {
    std::vector<Pending> pending = {{&root, std::move(path)}};
    while (!pending.empty()) {
      const Pending now = std::move(pending.back());
      pending.pop_back();
      if (!now.value->is_object()) {
        return wrong_type(now.path, "an object", *now.value);
      }
      const auto type = string_member(*now.value, now.path, "type");
      if (!type) return type.error();
      if (*type != "Sequence") {
        if (auto error = leaf(*now.value, *type, now.path)) return error;
        continue;
      }
      const json::Value* list = member(*now.value, list_key);
      if (list == nullptr) return missing_key(now.path, list_key);
      const std::string list_path = child(now.path, list_key);
      if (!list->is_array()) return wrong_type(list_path, "an array", *list);
      for (std::size_t i = list->size(); i-- > 0;) {
        pending.push_back({&list->items()[i], child(list_path, i)});
      }
    }
    return std::nullopt;
  }

  std::optional<Error> read_stages(const json::Value& decoder) {
    return walk(decoder, "/decoder", "decoders",
                [this](const json::Value& stage, std::string_view type,
                       const std::string& path) {
                  return read_stage(stage, type, path);
                });
  }

  std::optional<Error> read_stage(const json::Value& stage,
                                  std::string_view type,
                                  const std::string& path) {
    if (decoder_.stages_.size() >= kMaxStages) {
      Error error = too_large("The decoder has more than " +
                              std::to_string(kMaxStages) + " stages.");
      error.path = path;
      return error;
    }
    if (type == "Fuse") {
      if (sees_ < Sees::kText) sees_ = Sees::kText;
      return std::nullopt;
    }
    if (sees_ == Sees::kBegun) {
      return refusal(path, "The stage \"" + std::string(type) +
                               "\" comes after the start of the text was "
                               "stripped; only Fuse may.");
    }
    if (type == "ByteLevel") return read_byte_level(path);
    if (type == "ByteFallback") return read_byte_fallback(path);
    if (type == "Metaspace") return read_metaspace(stage, path);
    if (type == "Replace") return read_replace(stage, path);
    if (type == "Strip") return read_strip(stage, path);
    if (type == "WordPiece") return read_word_piece(stage, path);
    if (type == "BPEDecoder") return read_suffix(stage, path);
    if (type == "CTC") {
      return refusal(path,
                     "The stage \"CTC\" merges repeated tokens, which cannot "
                     "be said per token.");
    }
    return refusal(path, "The stage " + printable(type) +
                             " is unknown; known are ByteLevel, ByteFallback, "
                             "Metaspace, Replace, Strip, Fuse, WordPiece, "
                             "BPEDecoder and Sequence.");
  }

  // Refuses a stage that works on single pieces and comes after pieces were
  // joined.
  std::optional<Error> needs_pieces(std::string_view type,
                                    const std::string& path) const {
    if (sees_ == Sees::kPieces) return std::nullopt;
    return refusal(path, "The stage \"" + std::string(type) +
                             "\" sees joined tokens here, so it cannot be said "
                             "per token; it must come before ByteFallback, "
                             "ByteLevel and Fuse.");
  }

  std::optional<Error> read_byte_level(const std::string& path) {
    if (auto error = needs_pieces("ByteLevel", path)) return error;
    decoder_.stages_.push_back({.step = Step::kByteLevel});
    sees_ = Sees::kBytes;
    byte_level_ = true;
    return std::nullopt;
  }

  std::optional<Error> read_byte_fallback(const std::string& path) {
    if (sees_ == Sees::kRuns) return std::nullopt;
    if (auto error = needs_pieces("ByteFallback", path)) return error;
    decoder_.stages_.push_back({.step = Step::kByteFallback});
    sees_ = Sees::kRuns;
    byte_fallback_ = true;
    return std::nullopt;
  }

  std::optional<Error> read_metaspace(const json::Value& stage,
                                      const std::string& path) {
    std::string_view replacement = kMetaspace;
    if (const json::Value* value = member(stage, "replacement")) {
      replacement = value->as_string();
      if (!is_one_character(replacement)) {
        return refusal(child(path, "replacement"),
                       "The replacement must be one character; found " +
                           json::dump(*value) + ".");
      }
    }
    const auto prepends = reads_prepend(stage, path);
    if (!prepends) return prepends.error();
    if (*prepends) {
      if (sees_ >= Sees::kText) {
        return refusal(path,
                       "The stage \"Metaspace\" sees the whole text here and "
                       "would delete every " +
                           printable(replacement) +
                           "; it must come before ByteLevel and Fuse, or have "
                           "the prepend_scheme \"never\".");
      }
      decoder_.strips_leading_space_ = true;
    }
    return add_replace(replacement, " ", path);
  }

  // Whether a Metaspace stage drops the space before the first piece.
  static Result<bool> reads_prepend(const json::Value& stage,
                                    const std::string& path) {
    if (const json::Value* scheme = member(stage, "prepend_scheme")) {
      const std::string_view name = scheme->as_string();
      if (name != "always" && name != "first" && name != "never") {
        return refusal(child(path, "prepend_scheme"),
                       "The prepend_scheme must be \"always\", \"first\" or "
                       "\"never\"; found " +
                           json::dump(*scheme) + ".");
      }
      if (name == "never") return false;
    }
    // The older spelling of "never".
    const json::Value* prefix = member(stage, "add_prefix_space");
    return prefix == nullptr || prefix->truthy();
  }

  std::optional<Error> read_replace(const json::Value& stage,
                                    const std::string& path) {
    const json::Value* pattern = member(stage, "pattern");
    if (pattern == nullptr) return missing_key(path, "pattern");
    const std::string pattern_path = child(path, "pattern");
    const bool regex = member(*pattern, "Regex") != nullptr;
    const auto from =
        string_member(*pattern, pattern_path, regex ? "Regex" : "String");
    if (!from) return from.error();
    if (regex && from->find_first_of("\\.^$|?*+()[]{}") != from->npos) {
      return refusal(child(pattern_path, "Regex"),
                     "The regular expression " + printable(*from) +
                         " may match across tokens; only plain text is "
                         "supported in a Replace.");
    }
    if (from->empty()) {
      return refusal(pattern_path, "The pattern of a Replace is empty.");
    }
    const auto to = string_member(stage, path, "content");
    if (!to) return to.error();
    return add_replace(*from, *to, path);
  }

  std::optional<Error> add_replace(std::string_view from, std::string_view to,
                                   const std::string& path) {
    // In joined text, a pattern can be replaced token by token only if no match
    // spans two tokens.  So the pattern must be one character or, if tokens may
    // split characters, one byte.
    if ((sees_ == Sees::kText && !is_one_character(from)) ||
        (sees_ == Sees::kBytes && from.size() != 1)) {
      return refusal(path, "The pattern " + printable(from) +
                               " may match across tokens here, after " +
                               (byte_level_ ? "ByteLevel" : "Fuse") +
                               "; the stage must come before it.");
    }
    decoder_.stages_.push_back({.step = Step::kReplace,
                                .from = std::string(from),
                                .to = std::string(to)});
    return std::nullopt;
  }

  static Result<std::size_t> read_count(const json::Value& stage,
                                        const std::string& path,
                                        std::string_view key) {
    const json::Value* value = member(stage, key);
    if (value == nullptr) return missing_key(path, key);
    if (value->kind() != json::Kind::kInt) {
      return wrong_type(child(path, key), "a count", *value);
    }
    if (value->as_int() < 0) {
      return refusal(child(path, key), "The count must not be negative.");
    }
    return static_cast<std::size_t>(value->as_int());
  }

  std::optional<Error> read_strip(const json::Value& stage,
                                  const std::string& path) {
    const auto content = string_member(stage, path, "content");
    if (!content) return content.error();
    if (!is_one_character(*content)) {
      return refusal(child(path, "content"),
                     "The content of a Strip must be one character; found " +
                         printable(*content) + ".");
    }
    const auto start = read_count(stage, path, "start");
    if (!start) return start.error();
    const auto stop = read_count(stage, path, "stop");
    if (!stop) return stop.error();
    if (*start == 0 && *stop == 0) return std::nullopt;
    if (sees_ < Sees::kText) {
      decoder_.stages_.push_back({.step = Step::kStrip,
                                  .from = std::string(*content),
                                  .start = *start,
                                  .stop = *stop});
      return std::nullopt;
    }
    if (*content != " " || *start != 1 || *stop != 0) {
      return refusal(path, "This Strip sees the whole text and takes up to " +
                               std::to_string(*start) + " " +
                               printable(*content) + " off its start and " +
                               std::to_string(*stop) +
                               " off its end; only one space off the start is "
                               "supported.");
    }
    decoder_.strips_leading_space_ = true;
    sees_ = Sees::kBegun;
    return std::nullopt;
  }

  std::optional<Error> read_word_piece(const json::Value& stage,
                                       const std::string& path) {
    if (auto error = needs_pieces("WordPiece", path)) return error;
    const auto prefix = string_member(stage, path, "prefix");
    if (!prefix) return prefix.error();
    // "cleanup" is ignored: it rewrites finished text, e.g. " ." to ".".
    decoder_.stages_.push_back(
        {.step = Step::kWordPiece, .from = std::string(*prefix)});
    decoder_.strips_leading_space_ = true;
    return std::nullopt;
  }

  std::optional<Error> read_suffix(const json::Value& stage,
                                   const std::string& path) {
    if (auto error = needs_pieces("BPEDecoder", path)) return error;
    const auto suffix = string_member(stage, path, "suffix");
    if (!suffix) return suffix.error();
    if (suffix->empty()) {
      return refusal(child(path, "suffix"),
                     "The suffix of a BPEDecoder is empty.");
    }
    return add_replace(*suffix, " ", path);
  }

  // For a model with byte_fallback, "<0x0A>" is a byte even if its decoder has
  // no ByteFallback stage.  With ByteLevel, each byte has a piece of its own,
  // and
  // "<0x0A>" is text.
  std::optional<Error> read_model(const json::Value& tokenizer) {
    const json::Value* model = member(tokenizer, "model");
    if (model == nullptr || byte_fallback_ || byte_level_) return std::nullopt;
    const json::Value* fallback = member(*model, "byte_fallback");
    if (fallback == nullptr) return std::nullopt;
    if (fallback->kind() != json::Kind::kBool) {
      return wrong_type("/model/byte_fallback", "a boolean", *fallback);
    }
    if (fallback->as_bool()) {
      decoder_.stages_.insert(decoder_.stages_.begin(),
                              {.step = Step::kByteFallback});
    }
    return std::nullopt;
  }

  // If a normalizer puts U+2581 before a text, decoding removes it.
  std::optional<Error> read_normalizer(const json::Value& tokenizer) {
    const json::Value* normalizer = member(tokenizer, "normalizer");
    if (normalizer == nullptr) return std::nullopt;
    return walk(*normalizer, "/normalizer", "normalizers",
                [this](const json::Value& stage, std::string_view type,
                       const std::string&) -> std::optional<Error> {
                  const json::Value* text = member(stage, "prepend");
                  if (type == "Prepend" && text != nullptr &&
                      text->as_string() == kMetaspace) {
                    decoder_.strips_leading_space_ = true;
                    decoder_.space_after_marks_ = true;
                  }
                  return std::nullopt;
                });
  }

  // A Prepend, a Metaspace that always prepends and a ByteLevel with
  // add_prefix_space each add a space before every text between added tokens.
  std::optional<Error> read_pre_tokenizer(const json::Value& tokenizer) {
    const json::Value* pre = member(tokenizer, "pre_tokenizer");
    if (pre == nullptr) return std::nullopt;
    return walk(
        *pre, "/pre_tokenizer", "pretokenizers",
        [this](const json::Value& stage, std::string_view type,
               const std::string&) -> std::optional<Error> {
          const json::Value* scheme = member(stage, "prepend_scheme");
          const json::Value* prefix = member(stage, "add_prefix_space");
          const bool asked = prefix != nullptr && prefix->truthy();
          if (type == "ByteLevel" && asked) decoder_.space_after_marks_ = true;
          if (type == "Metaspace" &&
              (scheme != nullptr ? scheme->as_string() == "always" : asked)) {
            decoder_.space_after_marks_ = true;
          }
          return std::nullopt;
        });
  }

  Decoder decoder_;
  Sees sees_ = Sees::kPieces;
  bool byte_level_ = false;
  bool byte_fallback_ = false;
};

Result<Decoder> Decoder::from_json(const json::Value& tokenizer) {
  return DecoderReader().read(tokenizer);
}

Decoder Decoder::byte_level() {
  Decoder decoder;
  decoder.stages_.push_back({.step = Step::kByteLevel});
  return decoder;
}

Decoder Decoder::spaces() {
  Decoder decoder;
  decoder.stages_.push_back(
      {.step = Step::kReplace, .from = std::string(kMetaspace), .to = " "});
  return decoder;
}

Decoder Decoder::byte_fallback() {
  Decoder decoder = spaces();
  decoder.stages_.push_back({.step = Step::kByteFallback});
  return decoder;
}

std::optional<Error> Decoder::bytes(std::string_view piece, std::string& out) {
  out.assign(piece);
  return run(true, out);
}

std::optional<Error> Decoder::added_bytes(std::string_view content,
                                          std::string& out) {
  out.assign(content);
  return run(false, out);
}

// Applies the stages to `out` in order.  Invariant of the loop: `out` is the
// piece after the stages so far.  A byte from kByteFallback is final: it is not
// text, so no later stage applies.  `set_off`: whether the stages that separate
// pieces by spaces apply.
std::optional<Error> Decoder::run(bool set_off, std::string& out) {
  for (const Stage& stage : stages_) {
    // Counts one more than the bytes, because a stage takes time for an empty
    // piece too.
    work_ += out.size() + 1;
    if (work_ > kMaxWork) {
      return too_large("The decoder's stages have more than " +
                       std::to_string(kMaxWork) +
                       " bytes of pieces to look at.");
    }
    switch (stage.step) {
      case Step::kByteLevel:
        map_byte_level(out);
        break;
      case Step::kByteFallback:
        if (const auto byte = fallback_byte(out)) {
          out.assign(1, *byte);
          return std::nullopt;
        }
        break;
      case Step::kReplace:
        if (!replace_all(out, stage.from, stage.to)) {
          return too_large("The decoder makes more than " +
                           std::to_string(kMaxGrownBytes) +
                           " bytes of one piece, with the replacement of " +
                           printable(stage.from) + ".");
        }
        break;
      case Step::kStrip:
        strip(out, stage.from, stage.start, stage.stop);
        break;
      case Step::kWordPiece:
        if (!set_off) break;
        if (out.starts_with(stage.from)) {
          out.erase(0, stage.from.size());
        } else {
          out.insert(0, 1, ' ');
        }
        break;
      case Step::kSpaceBefore:
        if (set_off) out.insert(0, 1, ' ');
        break;
    }
  }
  return std::nullopt;
}

}  // namespace parlance::vocab

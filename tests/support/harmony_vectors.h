#ifndef PARLANCE_TESTS_SUPPORT_HARMONY_VECTORS_H_
#define PARLANCE_TESTS_SUPPORT_HARMONY_VECTORS_H_

// Cases of Harmony as data, and runs of a parser over them.
//
// The input of a case is a list of segments: {"special"}, {"text"} (ordinary
// tokens), {"bytes"} (one ordinary token), {"unknown_id"}.  HarmonyVocabulary
// writes segments as ids: each byte of a text is a token.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/harmony.h"
#include "parlance/json.h"
#include "parlance/vocabulary.h"
#include "support/vectors.h"

namespace parlance::testing {

// The bytes that an even number of hexadecimal digits names.
inline std::string from_hex(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(
        std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return out;
}

// Ids, and the segment that each of them belongs to.
struct HarmonyInput {
  std::vector<TokenId> ids;
  std::vector<std::size_t> segments;
};

struct HarmonyVocabulary {
  Vocabulary vocabulary;
  TokenId first_byte = 0;  // the token of byte 0; the others follow

  // Segments as ids, texts byte by byte.
  HarmonyInput encode(const json::Value& segments) const {
    HarmonyInput out;
    std::size_t segment = 0;
    const auto add = [&](TokenId id) {
      out.ids.push_back(id);
      out.segments.push_back(segment);
    };
    for (const json::Value& item : segments.items()) {
      if (const json::Value* mark = item.find("special")) {
        add(vocabulary.special(mark->as_string()).value());
      } else if (const json::Value* text = item.find("text")) {
        for (const char c : text->as_string()) {
          add(first_byte + static_cast<unsigned char>(c));
        }
      } else if (const json::Value* bytes = item.find("bytes")) {
        for (const char c : from_hex(bytes->as_string())) {
          add(first_byte + static_cast<unsigned char>(c));
        }
      } else {
        add(static_cast<TokenId>(item.find("unknown_id")->as_int()));
      }
      ++segment;
    }
    return out;
  }

  // The ids that a case lists, cut into its segments.
  HarmonyInput listed(const json::Value& test) const {
    HarmonyInput out;
    std::size_t next = 0;
    std::size_t segment = 0;
    const json::Array& ids = test.find("token_ids")->items();
    const auto take = [&] {
      const auto id = static_cast<TokenId>(ids[next++].as_int());
      out.ids.push_back(id);
      out.segments.push_back(segment);
      return vocabulary.bytes(id).size();
    };
    for (const json::Value& item : test.find("tokens_text")->items()) {
      if (const json::Value* text = item.find("text")) {
        std::size_t left = text->as_string().size();
        while (left > 0) left -= take();
      } else {
        take();
      }
      ++segment;
    }
    return out;
  }
};

// The markers at low ids, then a token for every byte.
inline HarmonyVocabulary small_harmony_vocabulary(bool space_after = false) {
  std::vector<TokenEntry> entries;
  const auto add = [&](std::string bytes, TokenKind kind) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = std::move(bytes),
                       .kind = kind});
  };
  for (const char* marker :
       {"<|return|>", "<|message|>", "<|start|>", "<|call|>", "<|channel|>",
        "<|endoftext|>", "<|end|>", "<|constrain|>", "<|reserved|>"}) {
    add(marker, TokenKind::kControl);
  }
  add("<added>", TokenKind::kAdded);
  const auto first = static_cast<TokenId>(entries.size());
  for (int byte = 0; byte < 256; ++byte) {
    add(std::string(1, static_cast<char>(byte)), TokenKind::kOrdinary);
  }
  return {Vocabulary::from_table(entries)->with_space_after_marks(space_after),
          first};
}

// o200k_harmony as far as the vectors use it, and a token for every byte.
inline HarmonyVocabulary vector_harmony_vocabulary(const json::Value& table) {
  std::vector<TokenEntry> entries;
  std::map<TokenId, std::string> special;
  for (const auto& [spelling, id] : table.find("special")->members()) {
    special[static_cast<TokenId>(id.as_int())] = spelling;
  }
  const auto last = static_cast<TokenId>(table.find("reserved_last")->as_int());
  for (auto id = static_cast<TokenId>(table.find("reserved_first")->as_int());
       id <= last; ++id) {
    special.try_emplace(id, "<|reserved_" + std::to_string(id) + "|>");
  }
  for (const auto& [id, spelling] : special) {
    entries.push_back(
        {.id = id, .bytes = spelling, .kind = TokenKind::kControl});
  }
  for (const auto& [id, hex] : table.find("ordinary")->members()) {
    entries.push_back({.id = static_cast<TokenId>(std::stoul(id)),
                       .bytes = from_hex(hex.as_string())});
  }
  // Beyond the ids that cases use as unknown ones.
  const TokenId first_byte = last + 100000;
  for (TokenId byte = 0; byte < 256; ++byte) {
    entries.push_back({.id = first_byte + byte,
                       .bytes = std::string(1, static_cast<char>(byte))});
  }
  return {*Vocabulary::from_table(entries), first_byte};
}

inline json::Value harmony_value(const HarmonyMessage& message) {
  json::Object out{{"role", to_string(message.role)}};
  const auto set = [&](const char* key,
                       const std::optional<std::string>& value) {
    if (value) out.set(key, *value);
  };
  set("name", message.name);
  set("channel", message.channel);
  set("recipient", message.recipient);
  set("content_type", message.content_type);
  out.set("content", message.content);
  return out;
}

// Everything that one run reports.
struct HarmonyRun {
  std::vector<std::string> deltas;  // of each feed(), then of finalize()
  // Events with neighbouring chunks of a message joined.
  std::vector<std::string> events;
  std::vector<HarmonyMessage> messages;
  std::vector<HarmonyDiagnostic> diagnostics;
  std::optional<HarmonyDiagnostic> error;

  json::Value values() const {
    json::Array out;
    for (const HarmonyMessage& m : messages) out.push_back(harmony_value(m));
    return out;
  }
  // Everything except `deltas`, as text.
  std::string to_string() const {
    std::string out;
    for (const std::string& event : events) out += event + "\n";
    for (const HarmonyMessage& m : messages) {
      out += json::dump(harmony_value(m), {.ascii = false}) + " " +
             std::string(parlance::to_string(m.end)) + " " +
             std::to_string(m.tokens.begin) + ".." +
             std::to_string(m.tokens.end) + " " +
             std::to_string(m.content_tokens.begin) + ".." +
             std::to_string(m.content_tokens.end) + "\n";
    }
    for (const HarmonyDiagnostic& d : diagnostics) {
      out += std::string(parlance::to_string(d.problem)) + " " +
             std::to_string(d.tokens.begin) + ".." +
             std::to_string(d.tokens.end) + " at " + std::to_string(d.at) +
             " " + d.message + "\n";
    }
    return out;
  }
};

// Feeds `ids` in batches that end at `cuts` (ascending); with `eos`, finalizes.
inline HarmonyRun run_harmony(const Vocabulary& vocabulary,
                              const HarmonyOptions& options,
                              std::span<const TokenId> ids,
                              std::span<const std::size_t> cuts,
                              bool eos = true) {
  HarmonyRun out;
  HarmonyParser parser = *HarmonyParser::create(vocabulary, options);
  const auto note = [&](std::span<const HarmonyEvent> events) {
    std::string delta;
    for (const HarmonyEvent& event : events) {
      const std::string head = std::string(to_string(event.kind)) + " " +
                               std::to_string(event.index);
      if (event.kind == HarmonyEventKind::kMessageChunk) {
        delta += event.text;
        if (!out.events.empty() && out.events.back().starts_with(head)) {
          out.events.back() += event.text;
        } else {
          out.events.push_back(head + " " + std::string(event.text));
        }
        continue;
      }
      out.events.push_back(head + " " + std::string(event.text) + " " +
                           std::to_string(event.tokens.begin) + ".." +
                           std::to_string(event.tokens.end));
    }
    out.deltas.push_back(delta);
  };
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    note(parser.feed(ids.subspan(from, cut - from)));
    from = cut;
  }
  if (from < ids.size()) note(parser.feed(ids.subspan(from)));
  if (eos) note(parser.finalize());
  out.diagnostics.assign(parser.diagnostics().begin(),
                         parser.diagnostics().end());
  if (parser.error() != nullptr) out.error = *parser.error();
  out.messages = std::move(parser).take_messages();
  return out;
}

// One call of feed() for each id.
inline HarmonyRun run_harmony_by_token(const Vocabulary& vocabulary,
                                       const HarmonyOptions& options,
                                       std::span<const TokenId> ids,
                                       bool eos = true) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i <= ids.size(); ++i) cuts.push_back(i);
  return run_harmony(vocabulary, options, ids, cuts, eos);
}

inline HarmonyOptions harmony_options(const json::Value& test, bool strict) {
  HarmonyOptions options;
  options.role = harmony_role(test.find("role")->as_string());
  options.strict = strict;
  return options;
}

// "case: what differs" for each difference between a case and a run in the
// default mode.
inline std::vector<std::string> harmony_differences(const json::Value& test,
                                                    const HarmonyInput& input,
                                                    const HarmonyRun& run) {
  std::vector<std::string> out;
  const std::string id(test.find("id")->as_string());
  const json::Value* better = test.find("recommended");
  const auto expected = [&](const char* key, const char* plain) {
    const json::Value* value = better ? better->find(key) : nullptr;
    return value != nullptr ? value : test.find(plain);
  };
  const auto differ = [&](const char* what, const json::Value& found,
                          const json::Value& wanted) {
    if (found == wanted) return;
    out.push_back(id + ": " + what + " " + json::dump(found) + ", expected " +
                  json::dump(wanted));
  };
  const json::Value* eos = test.find("eos");
  // A message that is still open is not among those of the case.
  json::Array closed;
  json::Array ends;
  for (const HarmonyMessage& message : run.messages) {
    if (message.end == HarmonyEnd::kOpen) continue;
    closed.push_back(harmony_value(message));
    ends.push_back(to_string(message.end));
  }
  differ("messages", closed, *expected("messages", "expected_messages"));
  if (const json::Value* wanted = expected("terminators", "terminators")) {
    differ("terminators", ends, *wanted);
  }
  json::Array diagnostics;
  for (const HarmonyDiagnostic& diagnostic : run.diagnostics) {
    const std::size_t segment = diagnostic.at < input.segments.size()
                                    ? input.segments[diagnostic.at]
                                    : test.find("tokens_text")->size();
    diagnostics.push_back(
        json::Object{{"kind", to_string(diagnostic.problem)},
                     {"segment", static_cast<std::int64_t>(segment)}});
  }
  const json::Value* wanted = better ? better->find("diagnostics") : nullptr;
  differ("diagnostics", diagnostics,
         wanted != nullptr ? *wanted : json::Value(json::Array()));
  if (eos == nullptr || !eos->as_bool()) return out;
  // The chunks of a message are its content.
  for (std::size_t i = 0; i < run.messages.size(); ++i) {
    const std::string head = "message_chunk " + std::to_string(i) + " ";
    std::string chunks;
    for (const std::string& event : run.events) {
      if (event.starts_with(head)) chunks += event.substr(head.size());
    }
    differ("chunks", chunks, run.messages[i].content);
  }
  return out;
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_HARMONY_VECTORS_H_

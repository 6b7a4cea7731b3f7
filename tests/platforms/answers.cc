// What the library answers, as numbers that are the same on every platform: for
// each family a walk through the masks of its grammar, and the events and the
// message of the text that came of it, read whole and in pieces.
//
//   answers         FAMILY MASKS EVENTS, a line each, and "all" with both sums
//   answers FOLDER  also what depends on files: a saved vocabulary is written
//                   into the folder, replaced and mapped
//
// The exit status is 0 when every family answered.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/parlance.h"

namespace parlance {
namespace {

constexpr std::size_t kSteps = 400;
constexpr TokenId kStop = 300;

constexpr const char* kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "required": ["city"], "properties": {
      "city": {"type": "string"}, "days": {"type": "integer"},
      "share": {"type": "number"}, "now": {"type": "boolean"}}}}},
  {"type": "function", "function": {"name": "clock", "parameters": {
    "type": "object", "properties": {
      "zone": {"enum": ["utc", "local"]},
      "at": {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"}}}}}
])";

// FNV-1a, byte by byte: no order of bytes can show.
class Sum {
 public:
  void add(std::string_view text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    add_number(text.size());
  }
  void add_number(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) step(number >> (8 * i) & 0xFF);
  }
  std::uint64_t value() const { return value_; }

 private:
  void step(std::uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001B3; }
  std::uint64_t value_ = 0xCBF29CE484222325;
};

Result<Vocabulary> make_vocabulary() {
  std::vector<TokenEntry> entries;
  for (TokenId id = 0; id < 256; ++id) {
    entries.push_back(
        {.id = id, .bytes = std::string(1, static_cast<char>(id))});
  }
  TokenId id = 256;
  for (const char* text :
       {"get", "_weather", "clock", "city", "\"name\"", "\": \"", "</", "<",
        "tool", "_call", ">\n", "{\"", "\"}", "}}", "1.5", "tru", "e,", "ü"}) {
    entries.push_back({.id = id++, .bytes = text});
  }
  entries.push_back(
      {.id = kStop, .bytes = "<end>", .kind = TokenKind::kControl});
  const std::vector<TokenId> stops = {kStop};
  return Vocabulary::from_table(entries, stops);
}

// Of many tokens that are allowed, one that probably leads on: in a text every
// byte is allowed, and only few of them begin or end anything.
bool leads_on(std::string_view bytes) {
  constexpr std::string_view kLeading = "\"'<>{}[]()|:,\n ab1";
  return bytes.size() > 1 || bytes.empty() ||
         kLeading.find(bytes[0]) != std::string_view::npos;
}

// Walks until the text ends or the steps do.  Returns the text.
std::string walk(Matcher matcher, std::size_t words,
                 const Vocabulary& vocabulary, std::uint64_t seed, Sum& masks) {
  std::string out;
  std::vector<std::int32_t> row(words);
  for (std::size_t step = 0; step < kSteps && !matcher.is_terminated();
       ++step) {
    matcher.fill_bitmask(row);
    std::vector<TokenId> allowed;
    std::vector<TokenId> leading;
    for (std::size_t i = 0; i < words; ++i) {
      const auto bits = static_cast<std::uint32_t>(row[i]);
      masks.add_number(bits);
      for (std::uint32_t bit = 0; bit < 32; ++bit) {
        const auto id = static_cast<TokenId>(i * 32 + bit);
        if ((bits >> bit & 1) == 0 || id >= vocabulary.size()) continue;
        allowed.push_back(id);
        if (leads_on(vocabulary.bytes(id))) leading.push_back(id);
      }
    }
    if (allowed.empty()) break;
    seed = seed * 6364136223846793005 + 1442695040888963407;
    const std::uint64_t drawn = seed >> 33;
    const std::vector<TokenId>& from =
        leading.empty() || drawn % 8 == 0 ? allowed : leading;
    const TokenId next = from[drawn / 8 % from.size()];
    if (!matcher.accept_token(next)) break;
    out += next == kStop ? std::string_view() : vocabulary.bytes(next);
  }
  return out;
}

void add_events(std::span<const Event> events, Sum& sum) {
  for (const Event& event : events) {
    sum.add_number(static_cast<std::uint64_t>(event.kind));
    sum.add(event.field);
    sum.add(event.text);
    sum.add_number(event.bytes.begin);
    sum.add_number(event.bytes.end);
    if (event.value != nullptr) sum.add(json::dump(*event.value));
    if (event.diagnostic != nullptr) sum.add(event.diagnostic->message);
  }
}

void read(const Format& format, std::string_view text, std::size_t piece,
          Sum& sum) {
  StreamOptions options;
  options.stream_calls = true;
  ResponseParser parser(format, options);
  add_events(parser.initial_events(), sum);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    add_events(parser.feed(text.substr(at, piece)), sum);
  }
  add_events(parser.finalize(), sum);
  sum.add(json::dump(parser.message().fields));
}

bool answer(std::string_view name, const Compiler& compiler,
            const json::Value& tools, Sum& all_masks, Sum& all_events) {
  const Result<Format> format = Format::built_in(name);
  if (!format) return false;
  Sum masks;
  Sum events;
  std::vector<std::string> texts = {"Let me look.\n", "\"{<tool_call>"};
  for (const char* choice : {"auto", "required"}) {
    StructuralTagOptions options;
    options.tools = tools;
    options.tool_choice = choice;
    if (const Result<Grammar> grammar = format->grammar(options)) {
      const Result<Constraint> constraint =
          compiler.compile(*grammar, {.markers = Markers::kText});
      if (!constraint) {
        masks.add(constraint.error().message);
      } else {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          texts.push_back(walk(constraint->matcher(), compiler.mask_words(),
                               compiler.vocabulary(), seed, masks));
        }
      }
    } else {
      masks.add(grammar.error().message);
    }
  }
  for (const std::string& text : texts) {
    read(*format, text, text.size() + 1, events);
    read(*format, text, 5, events);
  }
  std::printf("%-32.*s %016llx %016llx\n", static_cast<int>(name.size()),
              name.data(), static_cast<unsigned long long>(masks.value()),
              static_cast<unsigned long long>(events.value()));
  all_masks.add_number(masks.value());
  all_events.add_number(events.value());
  return true;
}

// A file is written, replaced while nobody has it mapped, and read again, under
// a name beyond ASCII.
bool try_files(const Vocabulary& vocabulary, const std::string& folder) {
  const std::string path = folder + "/vocabulary-\xC3\xBC.bin";
  for (int i = 0; i < 2; ++i) {
    const Result<std::size_t> saved = vocabulary.save(path);
    if (!saved) {
      std::printf("save: %s\n", saved.error().message.c_str());
      return false;
    }
  }
  const Result<Vocabulary> read = Vocabulary::load(path);
  if (!read) {
    std::printf("load: %s\n", read.error().message.c_str());
    return false;
  }
  return read->size() == vocabulary.size() && read->bytes(256) == "get";
}

int run(const char* folder) {
  const Result<Vocabulary> vocabulary = make_vocabulary();
  if (!vocabulary) return 1;
  const Result<Compiler> compiler = Compiler::create(*vocabulary);
  const Result<json::Value> tools = json::parse(kTools);
  if (!compiler || !tools) return 1;
  bool good = folder == nullptr || try_files(*vocabulary, folder);
  if (folder != nullptr) std::printf("files %s\n", good ? "ok" : "FAILED");
  Sum masks;
  Sum events;
  for (const std::string_view name : Format::built_in_names()) {
    if (answer(name, *compiler, *tools, masks, events)) continue;
    std::printf("%.*s: no format\n", static_cast<int>(name.size()),
                name.data());
    good = false;
  }
  std::printf("%-32s %016llx %016llx\n", "all",
              static_cast<unsigned long long>(masks.value()),
              static_cast<unsigned long long>(events.value()));
  return good ? 0 : 1;
}

}  // namespace
}  // namespace parlance

int main(int argc, char** argv) {
  return parlance::run(argc > 1 ? argv[1] : nullptr);
}

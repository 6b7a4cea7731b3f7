// Random responses of a format, and what holds of each of them.

#include "verification/walks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/python_number.h"
#include "inversion/reading.h"
#include "json/located.h"
#include "json/writer.h"
#include "parlance/constraint.h"
#include "parlance/grammar.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "schema/validate.h"
#include "verification/long_numbers.h"
#include "verification/unfinished.h"
#include "verification/walker.h"

namespace parlance::verification {
namespace {

using json::Value;

constexpr std::string_view kDocument = R"({
  "type": "object", "required": ["answer"], "additionalProperties": false,
  "properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}}})";

// All bytes, some words, and a token that ends responses.
Vocabulary small_vocabulary() {
  std::vector<TokenEntry> entries;
  const auto add = [&](std::string bytes, TokenKind kind) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = std::move(bytes),
                       .kind = kind});
  };
  for (int byte = 0; byte < 256; ++byte) {
    add(std::string(1, static_cast<char>(byte)), TokenKind::kOrdinary);
  }
  for (const char* word :
       {"the", " answer", " is", "Bern", "call", "true", "null", "\": \"",
        "\", \"", "\"}", "</", "\n\n", "  ", "{}", "1.5", "é", "😀", "&lt;"}) {
    add(word, TokenKind::kOrdinary);
  }
  add("<eos>", TokenKind::kControl);
  return *Vocabulary::from_table(entries, std::span<const TokenId>());
}

// Every tool asks for valid arguments.
Value strict_tools(const Value& tools) {
  Value out = tools;
  for (Value& tool : out.mutable_items()) {
    if (!tool.is_object()) continue;
    json::Object& members = tool.mutable_members();
    members.erase("strict");  // true is the default
    Value* function = members.find("function");
    if (function != nullptr && function->is_object()) {
      function->mutable_members().erase("strict");
    }
  }
  return out;
}

std::string shown(std::string_view text) {
  return json::dump(Value(text), {.ascii = false});
}

// A kind of request, and the tag, the constraint and the walker of its
// responses.
struct Request {
  std::string what;  // for messages
  CompiledTag reader;
  Constraint constraint;
  std::unique_ptr<Walker> walker;
};

struct Fault {
  std::string field;  // of the template; "": none
  std::string what;
  Value meant = {};
  Value read = {};
};

class Walks {
 public:
  Walks(const Format& format, const format::FormatImpl& impl,
        const inversion::Plan& plan, const Value& tools,
        const VerifyFormatOptions& options)
      : format_(format),
        impl_(impl),
        plan_(plan),
        tools_(strict_tools(tools)),
        tool_set_(ToolSet::from_value(tools_)),
        options_(options),
        words_(options.vocabulary != nullptr ? *options.vocabulary
                                             : small_vocabulary()),
        writer_(words_),
        python_calls_(std::ranges::any_of(
            impl.family.reading.fields, [](const format::FieldReading& field) {
              return field.syntax == format::ValueSyntax::kPythonCalls;
            })) {
    const auto stops = words_.stop_ids();
    stops_.assign(stops.begin(), stops.end());
    if (const auto end = words_.special("<eos>"); end && stops_.empty()) {
      stops_.push_back(*end);
    }
  }

  std::vector<FormatFinding> run() {
    Result<Compiler> compiler = Compiler::create(words_, {.stop_ids = stops_});
    if (!compiler) return {{std::move(compiler).error()}};
    if (std::optional<Error> error = prepare(*compiler)) {
      return {{*std::move(error)}};
    }
    for (std::size_t i = 0; i < options_.walks && !requests_.empty(); ++i) {
      Request& request = requests_[i % requests_.size()];
      // One request after the other, and each round one token longer.
      const auto seed = options_.seed + static_cast<std::uint32_t>(i);
      walk(request, seed, 2 + i / requests_.size() % kLongest);
      if (findings_.size() >= kMostFindings) break;
    }
    return std::move(findings_);
  }

 private:
  static constexpr std::size_t kLongest = 40;  // tokens before a walk ends
  static constexpr std::size_t kMostFindings = 8;
  static constexpr std::size_t kCuts = 200;

  // An error of the format, or of its tag, which the caller places in the file.
  std::optional<Error> prepare(const Compiler& compiler) {
    using enum ReasoningMode;
    // A format without calls has one kind of request for each mode.
    for (const ReasoningMode reasoning : {kAllowed, kRequired, kNone}) {
      for (const char* choice : {"auto", "required", "none"}) {
        StructuralTagOptions options;
        options.reasoning = reasoning;
        if (plan_.calls) {
          options.tools = tools_;
          options.tool_choice = choice;
        } else if (std::string_view(choice) != "auto") {
          continue;
        }
        if (auto error = add(compiler, options)) return error;
      }
    }
    StructuralTagOptions document;
    document.response_format = *json::parse(kDocument);
    return add(compiler, document);
  }

  std::optional<Error> add(const Compiler& compiler,
                           const StructuralTagOptions& options) {
    const Result<StructuralTag> tag = format_.structural_tag(options);
    if (!tag) {
      // What a format cannot do is said of the member of the request.
      const std::string& path = tag.error().path;
      if (path.starts_with("/tool_choice") ||
          path.starts_with("/response_format")) {
        return std::nullopt;
      }
      return tag.error();
    }
    Result<Constraint> constraint = compiler.compile_structural_tag(*tag);
    if (!constraint) return std::move(constraint).error();
    Result<CompiledTag> reader =
        CompiledTag::compile(*tag, {.vocabulary = options_.vocabulary});
    if (!reader) return std::move(reader).error();
    constexpr std::string_view kModes[] = {"required", "allowed", "none"};
    std::string what =
        plan_.calls && !options.tools.is_null()
            ? "tool_choice " + shown(options.tool_choice.as_string()) + ", "
            : "";
    what += options.response_format.is_null()
                ? "reasoning " +
                      std::string(
                          kModes[static_cast<std::size_t>(options.reasoning)])
                : "a response_format";
    requests_.push_back(
        {std::move(what), *std::move(reader), *std::move(constraint),
         std::make_unique<Walker>(words_, phrases_of(*tag, writer_), stops_)});
    return std::nullopt;
  }

  // One walk, and if something is found, shorter ones that find the same.
  void walk(Request& request, std::uint32_t seed, std::size_t steps) {
    std::optional<Fault> fault = try_walk(request, seed, steps);
    if (!fault) return;
    const std::string field = fault->field;
    for (const FormatFinding& finding : findings_) {
      if (finding.error.path == place_of(field)) return;
    }
    FormatFinding found = finding_of(request, *std::move(fault));
    // The same laws for other texts of up to three tokens before they end: one
    // of these mostly shows the same, and people can read it.
    constexpr std::uint32_t kTries = 100;
    for (std::uint32_t i = 0; i < kTries; ++i) {
      fault = try_walk(request, seed + i, i % 4);
      if (fault && fault->field == field && text_.size() < found.text.size()) {
        found = finding_of(request, *std::move(fault));
      }
    }
    findings_.push_back(std::move(found));
  }

  FormatFinding finding_of(const Request& request, Fault fault) const {
    return {{ErrorCode::kConflict,
             (fault.field.empty() ? ""
                                  : "field '" + fault.field +
                                        "' is not read as it is written: ") +
                 "of the response " + shown(text_) + " (" + request.what +
                 "), " + fault.what + (fault.what.ends_with('.') ? "" : "."),
             place_of(fault.field)},
            text_,
            std::move(fault.meant),
            std::move(fault.read)};
  }

  std::optional<format::FieldId> field_called(std::string_view name) const {
    const auto& fields = impl_.description.fields;
    for (std::uint32_t i = 0; i < fields.size(); ++i) {
      if (fields[format::FieldId(i)].name == name) return format::FieldId(i);
    }
    return std::nullopt;
  }

  std::string place_of(std::string_view name) const {
    const auto id = field_called(name);
    if (!id) return "";
    if (id == plan_.calls) return inversion::calls_pointer(impl_, plan_);
    const Value* extension = impl_.file.find("parlance");
    const Value* write =
        extension == nullptr ? nullptr : extension->find("write");
    const std::string& key = impl_.description.fields[*id].template_name;
    if (write != nullptr && write->find(key) != nullptr) {
      return json::append_pointer("/parlance/write", key);
    }
    return inversion::field_pointer(impl_, *id);
  }

  // Makes `text_`.  Nothing if every law holds of it.
  std::optional<Fault> try_walk(Request& request, std::uint32_t seed,
                                std::size_t steps) {
    // 1. A text of the grammar.  The walk checks the masks on its way.
    Matcher matcher = request.constraint.matcher({.stop_ids = stops_});
    const Walk walk = request.walker->walk(matcher, seed, steps);
    text_ = words_.decode(walk.ids);
    if (!walk.failure.empty()) {
      return Fault{"", "the masks of its grammar fail: " + walk.failure};
    }
    // Numbers beyond a double are read as the nearest one.
    if (walk.unfinished || has_long_number(text_) ||
        (python_calls_ && has_infinite_number(text_))) {
      return std::nullopt;
    }
    // 2. Its meaning: what the parser of the tag reads.
    TagParser tag(request.reader, {.vocabulary = options_.vocabulary});
    if (options_.vocabulary != nullptr) {
      tag.feed_tokens(walk.ids);
    } else {
      tag.feed(text_);
    }
    tag.finalize();
    // A mark that ends the last message may be the token that stopped the walk.
    if (!tag.complete()) return std::nullopt;
    const Message& meant = tag.message();
    // 3. The format reads the same.  The further laws are about bytes: the text
    //    is cut, rendered and damaged.
    if (options_.vocabulary != nullptr) {
      return compare(meant, read([&](ResponseParser& parser) {
                       parser.feed_tokens(walk.ids);
                     }),
                     "in tokens, ");
    }
    const Message whole =
        read([&](ResponseParser& parser) { parser.feed(text_); });
    if (auto fault = compare(meant, whole, "")) return fault;
    if (auto fault = try_cuts(whole, text_, seed)) return fault;
    if (auto fault = try_rendered(whole)) return fault;
    return try_damage(seed);
  }

  template <class Feed>
  Message read(const Feed& feed) const {
    ResponseParser parser(
        format_, {.tools = &tool_set_, .vocabulary = options_.vocabulary});
    feed(parser);
    parser.finalize();
    if (parser.failure() == nullptr) return std::move(parser).take_message();
    Message out = parser.message();
    out.diagnostics.insert(
        out.diagnostics.begin(),
        {.message = parser.failure()->message, .field = {}, .bytes = {}});
    return out;
  }

  Message read_bytes(std::string_view text) const {
    return read([&](ResponseParser& parser) {
      for (const char& byte : text) parser.feed({&byte, 1});
    });
  }

  // Whether `read` is `meant` without the white space around it: fields strip
  // it, and a field with nothing else is left out.
  static bool is_stripped(const Value* read, const Value& meant) {
    if (!meant.is_string()) return false;
    const std::string_view text = base::python_strip(meant.as_string());
    return read == nullptr ? text.empty()
                           : read->is_string() && read->as_string() == text;
  }

  std::optional<Fault> compare(const Message& meant, const Message& read,
                               std::string_view how) const {
    const std::string start(how);
    const std::string calls =
        plan_.calls ? impl_.description.fields[*plan_.calls].name : "";
    const auto fault = [&](std::string field, const std::string& what) {
      if (!field_called(field)) field = "";
      return Fault{std::move(field), start + what, meant.fields, read.fields};
    };
    // Both ways: what was meant is read, and nothing else is.
    for (const json::Member& member : meant.fields.members()) {
      const std::string name =
          member.key == "tool_calls" && !calls.empty() ? calls : member.key;
      const Value* found = read.fields.find(name);
      if (found != nullptr && schema::equal_values(*found, member.value)) {
        continue;
      }
      if (is_stripped(found, member.value)) continue;
      // A tag always has it; a template by its defaults.
      if (found == nullptr && name == "role") continue;
      const std::string written =
          json::dump(member.value, {.ascii = false}).substr(0, 500);
      return fault(
          name, found == nullptr
                    ? "there is no '" + name + "', which was " + written
                    : "'" + name + "' is read as " +
                          json::dump(*found, {.ascii = false}).substr(0, 500) +
                          ", which was " + written);
    }
    for (const json::Member& member : read.fields.members()) {
      const std::string name = member.key == calls ? "tool_calls" : member.key;
      if (meant.fields.find(name) == nullptr) {
        return fault(member.key,
                     "there is '" + member.key + "', which was not written");
      }
    }
    for (const Diagnostic& diagnostic : damage(read, text_.size())) {
      return fault(diagnostic.field, diagnostic.message);
    }
    return std::nullopt;
  }

  // In single bytes, and in two pieces.
  std::optional<Fault> try_cuts(const Message& whole, std::string_view text,
                                std::uint32_t seed) const {
    const auto differ = [&](const Message& pieces, const std::string& how) {
      return pieces.fields == whole.fields
                 ? std::nullopt
                 : std::optional<Fault>({"",
                                         how + " the message is another one",
                                         whole.fields, pieces.fields});
    };
    if (auto fault = differ(read_bytes(text), "in single bytes")) return fault;
    std::mt19937 random(seed);
    // Every cut of a short text, some of a long one.
    const std::size_t cuts = std::min(text.size(), kCuts);
    for (std::size_t i = 0; i < cuts; ++i) {
      const std::size_t at = cuts == text.size() ? i : random() % text.size();
      const Message pieces = read([&](ResponseParser& parser) {
        parser.feed(text.substr(0, at));
        parser.feed(text.substr(at));
      });
      if (auto fault = differ(pieces, "cut at byte " + std::to_string(at))) {
        return fault;
      }
    }
    return std::nullopt;
  }

  std::optional<Fault> try_rendered(const Message& message) const {
    const Result<std::string> rendered =
        format_.render(message.fields, {.tools = &tool_set_});
    // render() reads its text back itself.  A value may spell a mark, which as
    // a token is another text.
    if (rendered || rendered.error().code == ErrorCode::kUnsupported ||
        rendered.error().message.find("as token ids") != std::string::npos) {
      return std::nullopt;
    }
    return Fault{"", "its message is not rendered: " + rendered.error().message,
                 message.fields};
  }

  std::optional<Fault> try_damage(std::uint32_t seed) const {
    if (text_.empty()) return std::nullopt;
    std::mt19937 random(seed);
    std::string text = text_;
    const std::size_t at = random() % text.size();
    const std::size_t size = 1 + random() % 8;
    if (random() % 2 == 0) {
      text.erase(at, size);
    } else {
      text.insert(random() % text.size(), text_.substr(at, size));
    }
    const Message whole =
        read([&](ResponseParser& parser) { parser.feed(text); });
    const Message bytes = read_bytes(text);
    if (whole.fields == bytes.fields) return std::nullopt;
    return Fault{"",
                 "damaged to " + shown(text) +
                     ", in single bytes the message is another one",
                 whole.fields, bytes.fields};
  }

  const Format& format_;
  const format::FormatImpl& impl_;
  const inversion::Plan& plan_;
  const Value tools_;
  const ToolSet tool_set_;
  const VerifyFormatOptions& options_;
  const Vocabulary words_;
  const PhraseWriter writer_;
  // Python's numbers that are not finite are not read.
  const bool python_calls_;
  std::vector<TokenId> stops_ = {};
  std::vector<Request> requests_ = {};
  std::vector<FormatFinding> findings_ = {};
  std::string text_ = {};  // of the last walk
};

}  // namespace

std::vector<FormatFinding> find_by_walks(const Format& format,
                                         const format::FormatImpl& impl,
                                         const inversion::Plan& plan,
                                         const json::Value& tools,
                                         const VerifyFormatOptions& options) {
  return Walks(format, impl, plan, tools, options).run();
}

}  // namespace parlance::verification

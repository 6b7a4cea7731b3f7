#include "setup.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <system_error>

#include "io.h"
#include "outline.h"
#include "parlance/detect.h"
#include "parlance/hints.h"
#include "parlance/json.h"
#include "parlance/response_schema.h"
#include "pointer.h"
#include "report.h"
#include "source.h"
#include "suggest.h"

namespace parlance::cli {
namespace {

const std::map<std::string, Color> kColors = {{"auto", Color::kAuto},
                                              {"always", Color::kAlways},
                                              {"never", Color::kNever}};

const std::map<std::string, Markers> kMarkers = {{"token", Markers::kToken},
                                                 {"either", Markers::kEither},
                                                 {"text", Markers::kText}};

// The response schema of a configuration, as the template with the same
// meaning.
Format from_own_schema(const std::string& source, const std::string& path) {
  const std::string name = "response_schema of " + display_name(path);
  const ResponseSchema schema =
      or_fail(ResponseSchema::from_json(source), name, source);
  const Result<std::string> text = schema.to_template();
  if (!text) {
    Error error = text.error();
    error.message =
        "no response template has the same meaning as this schema: " +
        error.message + "  Choose a built-in format with --format NAME.";
    fail_with(error, name, source);
  }
  note("using the response schema in " + display_name(path) +
       ", as a response template");
  return or_fail(Format::from_json(*text), name, *text);
}

// What a configuration says of responses.
Format from_own(const ResponseSpec& spec, const std::string& path) {
  if (spec.kind == ResponseSpec::Kind::kSchema) {
    return from_own_schema(spec.text, path);
  }
  note("using the response template in " + display_name(path));
  return or_fail(Format::from_json(spec.text),
                 "response_template of " + display_name(path), spec.text);
}

Format detected(const std::string& text, const std::string& path) {
  const ResponseSpec spec =
      or_fail(response_spec(text), display_name(path), "");
  if (spec.kind == ResponseSpec::Kind::kTemplate ||
      spec.kind == ResponseSpec::Kind::kSchema) {
    return from_own(spec, path);
  }
  json::Value config = or_fail(json::parse(text), display_name(path), text);
  DetectedFormat found = or_fail(detect_format(config), display_name(path), "");
  note("using format " + found.name + " (" +
       std::string(to_string(found.certainty)) + "): " + found.why);
  return or_fail(Format::built_in(found.name), found.name, "");
}

Format load_format(const ReadingArguments& arguments) {
  if (!arguments.template_file.empty()) {
    return format_of_file(arguments.template_file);
  }
  if (arguments.format.empty()) {
    throw Failure(
        "no format given: use --format NAME (see 'parlance formats'), --format "
        "auto with a tokenizer_config.json, --template FILE, or --tag FILE");
  }
  if (arguments.format == "auto") {
    return detected(read_all(arguments.tokenizer_config),
                    arguments.tokenizer_config);
  }
  return named_format(arguments.format, "--format");
}

CompiledTag load_tag(const std::string& file,
                     const std::optional<Vocabulary>& vocabulary,
                     Markers markers) {
  const Source source = read_source(file, "--tag", SourceKind::kTag);
  const StructuralTag tag =
      or_fail(StructuralTag::from_json(source.text), source.name, source.text);
  Result<CompiledTag> compiled = CompiledTag::compile(
      tag,
      {.vocabulary = vocabulary ? &*vocabulary : nullptr, .markers = markers});
  if (!compiled) {
    Error error = std::move(compiled).error();
    if (!error.span) error.span = locate(source.text, error.path);
    fail_with(error, source.name, source.text);
  }
  return *std::move(compiled);
}

}  // namespace

Format format_of_file(const std::string& file) {
  const std::string text = read_all(file);
  const ResponseSpec spec =
      or_fail(response_spec(text), display_name(file), "");
  if (spec.kind != ResponseSpec::Kind::kGiven) return detected(text, file);
  return or_fail(Format::from_json(text), display_name(file), text);
}

bool is_format_path(std::string_view name) {
  return name.ends_with(".json") || name.find('/') != std::string_view::npos;
}

Format named_format(const std::string& name, const std::string& option) {
  if (is_format_path(name)) return format_of_file(name);
  return or_fail(Format::built_in(name), option, "");
}

Check one_or_more(std::size_t most) {
  return {[most](const std::string& text) -> std::string {
    std::size_t number = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && at == end && number > 0 && number <= most) {
      return {};
    }
    const bool bounded = most != std::numeric_limits<std::size_t>::max();
    return (bounded
                ? "it must be a whole number from 1 to " + std::to_string(most)
                : std::string("it must be a whole number greater "
                              "than 0")) +
           ", not " + safe_text(text);
  }};
}

std::string not_one_of(const std::string& given,
                       std::span<const std::string> words) {
  std::string out = "it must be ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 < words.size() ? ", " : " or ";
    out += words[i];
  }
  out += ", not '" + safe_text(given) + "'";
  const std::string near = closest(given, words);
  return near.empty() ? out : out + "; did you mean '" + near + "'?";
}

std::vector<TokenId> read_ids(std::string_view text, const std::string& name) {
  constexpr std::string_view kBetween = " \t\r\n,[]";
  std::vector<TokenId> out;
  for (std::size_t at = text.find_first_not_of(kBetween);
       at != std::string_view::npos;
       at = text.find_first_not_of(kBetween, at)) {
    std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    std::uint64_t id = 0;
    for (char c : text.substr(at, end - at)) {
      if (c >= '0' && c <= '9') id = id * 10 + static_cast<unsigned>(c - '0');
      if (c < '0' || c > '9' || id > std::numeric_limits<TokenId>::max()) {
        throw Failure(
            name + ": \"" +
            one_line(text.substr(at, std::min<std::size_t>(end - at, 40))) +
            "\" at byte " + std::to_string(at) +
            " is not a token id; with --ids the input is numbers separated by "
            "white space, or a JSON list of numbers");
      }
    }
    out.push_back(static_cast<TokenId>(id));
    at = end;
  }
  return out;
}

void add_color(Command& app, Color& color) {
  app.add_option("--color", color,
                 "auto: on a terminal, unless NO_COLOR is set; always; never")
      ->transform(one_of(kColors))
      ->type_name("WHEN");
}

void add_reading(Command& app, ReadingArguments& a,
                 std::vector<std::string>* files) {
  if (files != nullptr) {
    app.add_option("FILE", *files,
                   "The response; standard input by default. With --jsonl, "
                   "several files")
        ->type_name("");
  } else {
    app.add_option("FILE", a.file, "The response; standard input by default")
        ->type_name("");
  }
  auto* format = app.add_option("-f,--format", a.format,
                                "A built-in format, the path of a format "
                                "file, or 'auto' to choose it from the "
                                "tokenizer's configuration")
                     ->type_name("NAME");
  app.add_option("-t,--template", a.template_file,
                 "A response template or format file")
      ->type_name("FILE")
      ->excludes(format);
  auto* tag =
      app.add_option(
             "--tag", a.tag_file,
             "A structural tag instead of a format: a file, or the text itself")
          ->type_name("FILE")
          ->excludes(format)
          ->excludes("--template");
  app.add_option("--tokenizer-config", a.tokenizer_config,
                 "The file that --format auto reads [tokenizer_config.json]")
      ->type_name("FILE");
  auto* prefix = app.add_option("-p,--prefix", a.prefix,
                                "What the prompt already wrote, e.g. an "
                                "opened '<think>'")
                     ->type_name("TEXT");
  app.add_option("--prefix-file", a.prefix_file, "The same from a file")
      ->type_name("FILE")
      ->excludes(prefix);
  app.add_option("--tools", a.tools_file,
                 "The request's tools (JSON list); arguments get the types "
                 "that they declare")
      ->type_name("FILE")
      ->excludes(tag);
  auto* vocabulary = add_vocabulary(app, a.vocabulary);
  auto* ids = app.add_flag("--ids", a.ids,
                           "The input is token ids: numbers separated by white "
                           "space, or a JSON list");
  ids->needs(vocabulary);
  vocabulary->needs(ids);
  app.add_option(
         "--markers", a.markers,
         "How to recognise a delimiter that is a token of the vocabulary: "
         "token (only as that token), either (also as its spelling), text "
         "(only by its spelling, however tokenised) [token]")
      ->transform(one_of(kMarkers))
      ->type_name("KIND")
      ->needs(vocabulary);
  auto* strict = app.add_flag("--strict", a.strict,
                              "Fail if a part of the response does not fit");
  app.add_flag("--recover", a.recover,
               "Limit damage to its region and continue (default of built-in "
               "formats)")
      ->excludes(strict);
  add_color(app, a.color);
}

void fail_with(const Error& error, std::string_view name,
               std::string_view source) {
  // A path or span means something only beside the text.
  std::string text = describe(
      Style(Color::kAuto, 2), name, source,
      source.empty() ? Finding{Severity::kError, error.message}
                     : Finding{Severity::kError, error.message,
                               to_string(error.code), error.path, error.span});
  text.pop_back();
  throw Failure::painted(text);
}

Reading::Reading(const ReadingArguments& arguments) : prefix(arguments.prefix) {
  if (!arguments.prefix_file.empty()) prefix = read_all(arguments.prefix_file);
  if (!arguments.tools_file.empty()) {
    std::string text = read_all(arguments.tools_file);
    tools = or_fail(ToolSet::from_json(text),
                    display_name(arguments.tools_file), text);
  }
  vocabulary = load_vocabulary(arguments.vocabulary);
  const bool is_named = !arguments.format.empty() ||
                        !arguments.template_file.empty() ||
                        !arguments.tag_file.empty();
  if (!is_named && !arguments.needs_format) {
    // Each row has its own.
  } else if (arguments.tag_file.empty()) {
    format = load_format(arguments);
    for (std::size_t i = 0; i < format->field_count(); ++i) {
      fields_.push_back(format->field_name(i));
    }
  } else {
    tag = load_tag(arguments.tag_file, vocabulary, arguments.markers);
    fields_.assign(tag->fields().begin(), tag->fields().end());
  }
  markers = arguments.markers;
  attempts = arguments.attempts;
  if (arguments.strict) recover = Recover::kNo;
  if (arguments.recover) recover = Recover::kYes;
}

Reader Reading::reader(const StreamOptions& options) const {
  return tag ? Reader(*tag, options) : Reader(*format, options);
}

StreamOptions Reading::options() const {
  return {.prefix = prefix,
          .tools = tools ? &*tools : nullptr,
          .vocabulary = vocabulary ? &*vocabulary : nullptr,
          .markers = markers,
          .recover = recover,
          .attempts = attempts};
}

Response::Response(const ReadingArguments& arguments, const Reading& reading)
    : reads_ids(reading.vocabulary.has_value()),
      bytes(read_all(arguments.file)) {
  if (!reads_ids) return;
  ids = read_ids(bytes, display_name(arguments.file));
  bytes.clear();
  for (TokenId id : ids) {
    if (reading.vocabulary->kind(id) == TokenKind::kUnused) {
      bytes += "\xEF\xBF\xBD";
    } else {
      bytes += reading.vocabulary->bytes(id);
    }
  }
}

std::span<const Event> Response::feed(Reader& reader, std::size_t begin,
                                      std::size_t end) const {
  if (reads_ids) {
    return reader.feed_tokens(
        std::span<const TokenId>(ids).subspan(begin, end - begin));
  }
  return reader.feed(std::string_view(bytes).substr(begin, end - begin));
}

bool tell_damage(const Reader& reader, const Style& style) {
  return tell_damage(reader.failure(), reader.message().diagnostics, style);
}

namespace {

// "response: warning: ..." and under it the place and the code.
void tell(const Style& style, std::string_view look, std::string_view kind,
          std::string_view message, std::string where, std::string_view code) {
  where += (where.empty() ? "(" : " (") + std::string(code) + ")";
  put_error(style.paint(Style::kBold, "response:") + " " +
            style.paint(look, kind) + " " + safe_text(message) + "\n" +
            style.paint(Style::kDim, "  " + safe_text(where)) + "\n");
}

std::string place_of(Span bytes, std::string_view field) {
  std::string out =
      "bytes " + std::to_string(bytes.begin) + ".." + std::to_string(bytes.end);
  if (!field.empty()) out += " of " + std::string(field);
  return out;
}

}  // namespace

bool tell_damage(const Error* failure, std::span<const Diagnostic> diagnostics,
                 const Style& style) {
  if (failure != nullptr) {
    tell(style, Style::kError, "error:", failure->message,
         failure->span ? place_of(*failure->span, "") : "",
         to_string(failure->code));
    return true;
  }
  for (const Diagnostic& diagnostic : diagnostics) {
    tell(style, Style::kWarning, "warning:", diagnostic.message,
         place_of(diagnostic.bytes, diagnostic.field),
         to_string(diagnostic.code));
  }
  return !diagnostics.empty();
}

void HintText::begin(const Reading& reading, const Reader& reader) {
  const std::string_view prefix = reading.prefix;
  text_ = prefix.substr(prefix.size() - reader.prefix_bytes());
}

void HintText::add(std::string_view piece) {
  text_ += piece.substr(0, kHintBytes - std::min(kHintBytes, text_.size()));
}

void HintText::tell(const Reading& reading, const Message& message,
                    const Style& style) const {
  if (!reading.format) return;
  const std::vector<Hint> hints =
      hints_of(*reading.format, text_, message,
               {.tools = reading.tools ? &*reading.tools : nullptr,
                .by_tokens = reading.vocabulary.has_value()});
  for (const Hint& hint : hints) {
    cli::tell(style, Style::kWarning, "hint:", hint.message,
              place_of(hint.bytes, hint.field), to_string(hint.kind));
  }
}

}  // namespace parlance::cli

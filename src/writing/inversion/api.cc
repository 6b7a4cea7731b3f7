// Implements Format::structural_tag(), Format::grammar() and Format::lint() of
// parlance/format.h, and tool_calling() of parlance/structural_tag.h.

#include <algorithm>
#include <cmath>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/mutex.h"
#include "base/utf8.h"
#include "format/description.h"
#include "format/lint.h"
#include "inversion/continuation.h"
#include "inversion/plan.h"
#include "inversion/prefix.h"
#include "inversion/read_texts.h"
#include "inversion/read_values.h"
#include "inversion/reading.h"
#include "inversion/request.h"
#include "inversion/tag_builder.h"
#include "inversion/tool_choice.h"
#include "inversion/verify.h"
#include "inversion/written_part.h"
#include "json/writer.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/response_parser.h"
#include "parlance/structural_tag.h"
#include "structural_tag/structural_tag.h"
#include "vocab/prompt_text.h"

namespace parlance {

// ORDER: ReasoningMode
static_assert(static_cast<int>(ReasoningMode::kNone) ==
              static_cast<int>(inversion::Reasoning::kOff));

// ORDER: TextWithCalls
static_assert(static_cast<int>(TextWithCalls::kBetween) ==
              static_cast<int>(inversion::CallText::kBetween));

namespace inversion {
namespace {

using structural_tag::TagTree;

// The tags of recent requests.  A server sees the same tools again and again,
// and the grammar of the same tag is found without compiling it.
//
// Memory: at most kMostRequests requests of kMostValues JSON values each, with
// their tags.  Safe to use from several threads.
class RecentTags {
 public:
  std::optional<StructuralTag> find(const StructuralTagOptions& request,
                                    std::string_view written) {
    const std::lock_guard lock(mutex_);
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->written != written || !same(at->request, request)) continue;
      entries_.splice(entries_.begin(), entries_, at);
      return at->tag;
    }
    return std::nullopt;
  }

  void add(const StructuralTagOptions& request, std::string_view written,
           const StructuralTag& tag) {
    if (written.size() > kMostWritten || !small(request)) return;
    Entry entry{request, std::string(written), tag};
    entry.request.prefix.clear();
    entry.request.prefix_ids.clear();
    entry.request.vocabulary = nullptr;
    const std::lock_guard lock(mutex_);
    entries_.push_front(std::move(entry));
    if (entries_.size() > kMostRequests) entries_.pop_back();
  }

 private:
  static constexpr std::size_t kMostRequests = 16;
  static constexpr std::size_t kMostValues = 100'000;
  static constexpr std::size_t kMostWritten = 4096;

  struct Entry {
    StructuralTagOptions request;  // without prefix
    std::string written;
    StructuralTag tag;
  };

  // All options but the prefix.
  static bool same(const StructuralTagOptions& a,
                   const StructuralTagOptions& b) {
    return a.parallel_tool_calls == b.parallel_tool_calls &&
           a.text_with_calls == b.text_with_calls &&
           a.reasoning == b.reasoning &&
           a.max_reasoning_tokens == b.max_reasoning_tokens &&
           a.any_order == b.any_order &&
           a.max_white_space == b.max_white_space &&
           same_limits(a.limits, b.limits) && a.tool_choice == b.tool_choice &&
           same_text(a.response_format, b.response_format) &&
           same_text(a.tools, b.tools);
  }

  // The limits that reading a tag has.
  static bool same_limits(const Limits& a, const Limits& b) {
    return a.json_depth == b.json_depth && a.source_bytes == b.source_bytes &&
           a.integer_digits == b.integer_digits;
  }

  // Equal, with the members of objects in the same order: a tag has the order
  // of its schemas.
  static bool same_text(const json::Value& a, const json::Value& b) {
    std::vector<std::pair<const json::Value*, const json::Value*>> left = {
        {&a, &b}};
    while (!left.empty()) {
      const auto [x, y] = left.back();
      left.pop_back();
      if (x->kind() != y->kind() || x->size() != y->size()) return false;
      if (x->is_array()) {
        if (&x->items() == &y->items()) continue;
        for (std::size_t i = 0; i < x->size(); ++i) {
          left.emplace_back(&x->items()[i], &y->items()[i]);
        }
      } else if (x->is_object()) {
        if (&x->members() == &y->members()) continue;
        auto other = y->members().begin();
        for (const json::Member& member : x->members()) {
          if (member.key != other->key) return false;
          left.emplace_back(&member.value, &other->value);
          ++other;
        }
      } else if (*x != *y ||
                 // Equal, and written otherwise: 0.0 and -0.0.
                 (x->kind() == json::Kind::kFloat &&
                  std::signbit(x->as_float()) != std::signbit(y->as_float()))) {
        return false;
      }
    }
    return true;
  }

  static bool small(const StructuralTagOptions& request) {
    std::vector<const json::Value*> left = {&request.tools,
                                            &request.response_format};
    std::size_t count = 0;
    while (!left.empty()) {
      const json::Value& value = *left.back();
      left.pop_back();
      count += 1 + (value.is_string() ? value.size() / 64 : 0);
      if (count > kMostValues) return false;
      for (const json::Value& item : value.items()) left.push_back(&item);
      for (const json::Member& member : value.members()) {
        left.push_back(&member.value);
      }
    }
    return true;
  }

  base::Mutex mutex_;
  std::list<Entry> entries_;  // the most recently used first
};

// What is stored in FormatImpl::inversion_plan.
struct StoredPlan {
  explicit StoredPlan(const format::FormatImpl& format)
      : plan(make_plan(format)) {}
  Result<std::shared_ptr<const Plan>> plan;
  mutable RecentTags recent = {};
  const std::shared_ptr<TagTree::PatternDfas> pattern_dfas =
      std::make_shared<TagTree::PatternDfas>();
};

const StoredPlan& plan_of(const format::FormatImpl& format) {
  format.inversion_once.call([&] {
    format.inversion_plan = std::make_shared<const StoredPlan>(format);
  });
  return *static_cast<const StoredPlan*>(format.inversion_plan.get());
}

// The part of the prompt that belongs to the response.
std::string written_of(const Format& format,
                       const StructuralTagOptions& options) {
  StreamOptions reading{.prefix = options.prefix, .keep_message = false};
  std::string prompt = options.prefix;
  if (options.vocabulary != nullptr && !options.prefix_ids.empty()) {
    reading.prefix_ids = options.prefix_ids;
    reading.vocabulary = options.vocabulary;
    prompt = vocab::text_of_prompt(*options.vocabulary, options.prefix_ids,
                                   [](TokenId, std::size_t, std::size_t) {});
  }
  if (prompt.empty()) return {};
  const ResponseParser reader(format, reading);
  return prompt.substr(prompt.size() - reader.prefix_bytes());
}

Result<Request> request_of(const StructuralTagOptions& options, bool written) {
  Request out;
  out.written = written;
  auto tools = select_tools(options.tools, options.tool_choice);
  if (!tools) return std::move(tools).error();
  out.tools = std::move(*tools);
  out.parallel = options.parallel_tool_calls;
  out.call_text = static_cast<CallText>(options.text_with_calls);
  out.reasoning = static_cast<Reasoning>(options.reasoning);
  auto document = document_schema(options.response_format);
  if (!document) return std::move(document).error();
  if (*document) {
    out.document = std::move((*document)->schema);
    out.document_path = std::move((*document)->path);
  }
  out.max_reasoning_tokens = options.max_reasoning_tokens;
  out.any_order = options.any_order;
  if (options.max_white_space && *options.max_white_space == 0) {
    return Error{ErrorCode::kConflict, "max_white_space: must be at least 1.",
                 "/max_white_space"};
  }
  out.max_white_space = options.max_white_space;
  return out;
}

// Where the schemas of the tag are in the request.
TagTree::Requested requested_of(const Request& request) {
  TagTree::Requested out;
  out.tools.reserve(request.tools.functions.size());
  for (const Tool& tool : request.tools.functions) {
    const bool any = tool.schema == json::Value(true);
    out.tools.push_back(
        {tool.name, any ? tool.path : tool.path + "/parameters"});
  }
  out.document = request.document_path;
  return out;
}

// The tag as a user of the library would load it.  An error in a schema has the
// pointer of the schema in the request.
Result<TagTree> load_tag(json::Value format, std::string_view prefix,
                         const Request& request, const Limits& limits) {
  json::Object made{{"type", "structural_tag"}, {"format", std::move(format)}};
  if (!prefix.empty()) {
    made.set("prefix", structural_tag::prefix_to_json(prefix));
  }
  json::Value source = std::move(made);
  Result<TagTree> tree = structural_tag::load_structural_tag(source, limits);
  if (!tree) {
    TagTree failed;
    failed.source = std::move(source);
    failed.requested = requested_of(request);
    return structural_tag::in_request(failed, std::move(tree).error());
  }
  tree->source = std::move(source);
  tree->requested = requested_of(request);
  return tree;
}

// The events of the format's parser say which region is open; its attempts,
// which are known once the response has ended there, say which calls there are.
WrittenPart read_written(const Format& format, std::string_view written,
                         const ToolSet* tools) {
  ResponseParser parser(format, {.tools = tools,
                                 .recover = Recover::kYes,
                                 .stream_calls = true,
                                 .attempts = true});
  WrittenPart out;
  std::string name;        // of the open call, if it was announced
  std::size_t opened = 0;  // where the open region begins
  for (const Event& event : parser.feed(written)) {
    switch (event.kind) {
      case EventKind::kRegionOpen:
        out.open = event.field;
        opened = event.bytes.begin;
        out.body = event.bytes.end;
        name.clear();
        out.arguments.reset();
        break;
      case EventKind::kRegionClose:
      case EventKind::kRegionMalformed:
        out.finished = std::exchange(out.open, {});
        out.end = event.bytes.end;
        break;
      case EventKind::kCallOpen:
        name = event.text;
        break;
      case EventKind::kCallArguments:
        if (!out.arguments) out.arguments = event.bytes.begin;
        break;
      case EventKind::kCallClose:
        name.clear();
        out.arguments.reset();
        break;
      default:
        break;
    }
  }
  out.held = parser.held();
  parser.finalize();
  const Message& message = parser.message();
  out.turn_ended = message.turn_ended;
  const std::vector<Attempt>& attempts = message.attempts;
  const Attempt* open_call = nullptr;
  if (!attempts.empty() && attempts.back().status == CallStatus::kCutOff) {
    open_call = &attempts.back();
  }
  // In a response that has ended, a string without its quote may end at a
  // closer in it; in a prompt the string continues.  So the last call of the
  // open region that is not complete is open, and nothing comes after it.
  if (!out.open.empty()) {
    for (const Attempt& attempt : attempts) {
      if (attempt.bytes.begin < opened || is_complete(attempt.status)) continue;
      open_call = &attempt;
      out.turn_ended = false;
    }
  }
  for (const Attempt& attempt : attempts) {
    const bool complete = is_complete(attempt.status);
    const bool open = &attempt == open_call;
    if (complete || open) {
      // More may come of a name with which all ends.
      const bool partial =
          open && name.empty() && written.ends_with(attempt.name);
      out.calls.push_back({partial ? std::string() : attempt.name,
                           attempt.bytes.begin, attempt.bytes.end, complete});
    }
    if (open) break;
  }
  return out;
}

// Whether a text of the tag begins with its prefix.
Result<bool> fits_prefix(const StructuralTag& tag) {
  const Result<Grammar> grammar = Grammar::from_structural_tag(tag);
  if (grammar) return true;
  if (grammar.error().code == ErrorCode::kUnsatisfiable) return false;
  return grammar.error();
}

// Why no response begins with what is written, by the tag of a whole response.
Error prefix_error(const StructuralTag& whole, std::string_view written) {
  const Result<Grammar> grammar = Grammar::from_structural_tag(whole);
  if (!grammar) return grammar.error();
  GrammarReader reader(*grammar);
  const std::size_t read = reader.feed(written);
  std::string_view left = written.substr(read).substr(0, 40);
  left.remove_suffix(base::begun_character(left));
  return Error{ErrorCode::kConflict,
               "prefix: no response of this request begins with what the "
               "prompt has written of it: after " +
                   std::to_string(read) + " bytes of it, before " +
                   json::quoted(left) + ", there may come " +
                   reader.expected() + ".",
               "/prefix"};
}

// The longest example in a message.
constexpr std::size_t kLongestExample = 300;

bool may_be_next(const Grammar& grammar, const std::string& text, char next) {
  GrammarReader reader(grammar);
  return reader.feed(text + next) == text.size() + 1;
}

// A text of the grammar in which what is open is closed as soon as it can be;
// a string that is a value, after one character.  Nothing if it gets too long.
std::optional<std::string> short_text(const Grammar& grammar) {
  std::string text;
  while (text.size() < kLongestExample) {
    GrammarReader reader(grammar);
    reader.feed(text);
    if (reader.can_end()) return text;
    const bool in_string = std::count(text.begin(), text.end(), '"') % 2 == 1;
    std::string order = in_string ? "\"" : "}]\":,{[";
    if (text.ends_with(":\"")) order.insert(0, "f");
    for (char c = '0'; c <= 'z'; ++c) order += c;
    for (char c = '!'; c <= '~'; ++c) order += c;
    const auto next = std::find_if(order.begin(), order.end(), [&](char c) {
      return may_be_next(grammar, text, c);
    });
    if (next == order.end()) return std::nullopt;
    text += *next;
  }
  return std::nullopt;
}

// The error that every document of the request has a part that would be read as
// a call, with such a document, if one is found.
//
// Errors: kConflict, with the pointer "/response_format".
// Complexity: that of compiling the document's schema twice, if the schema
// mentions a key of a call.
std::optional<Error> verify_document(const Format& format, const Plan& plan,
                                     const Request& request) {
  if (!request.document || !plan.content) return std::nullopt;
  const DocumentRule& rule = plan.fields[*plan.content].documents;
  const std::string schema = json::dump(*request.document);
  if (std::none_of(rule.call_keys.begin(), rule.call_keys.end(),
                   [&](const std::string& key) {
                     return schema.find(json::quoted(key)) != std::string::npos;
                   })) {
    return std::nullopt;
  }
  const Result<Grammar> kept =
      Grammar::from_json_schema(with_rule(*request.document, rule));
  if (kept || kept.error().code != ErrorCode::kUnsatisfiable) {
    return std::nullopt;
  }
  // Without undeclared members an example is short.
  JsonSchemaOptions options{.key_order = KeyOrder::kSchema, .closed = true};
  Result<Grammar> whole = Grammar::from_json_schema(*request.document, options);
  options.closed = false;
  if (!whole) whole = Grammar::from_json_schema(*request.document, options);
  if (!whole) return std::nullopt;
  std::string message =
      "response_format: every document has a part that is read as a call";
  const std::optional<std::string> example = short_text(*whole);
  if (example && !read_response(format, plan, *example).calls.empty()) {
    message += ", such as " + *example;
  }
  return Error{ErrorCode::kConflict,
               message + "; another name of a member would keep them apart.",
               "/response_format"};
}

}  // namespace
}  // namespace inversion

std::vector<Lint> Format::lint() const {
  std::vector<Lint> lints = format::lint(*impl_);
  const auto& plan = inversion::plan_of(*impl_).plan;
  if (!plan) {
    lints.push_back({LintCode::kNotInvertible,
                     "no structural tag can be made, so this only reads: " +
                         plan.error().message,
                     plan.error().path});
  }
  return lints;
}

// The request is resolved; the names of its tools and arguments are verified;
// the tag is built and loaded.
Result<StructuralTag> Format::structural_tag(
    const StructuralTagOptions& options) const {
  const inversion::StoredPlan& stored = inversion::plan_of(*impl_);
  if (!stored.plan) return stored.plan.error();
  const inversion::Plan& plan = **stored.plan;
  const std::string written = inversion::written_of(*this, options);
  if (auto known = stored.recent.find(options, written)) {
    return *std::move(known);
  }
  Result<inversion::Request> request =
      inversion::request_of(options, !written.empty());
  if (!request) return std::move(request).error();

  std::vector<inversion::Tool>& functions = request->tools.functions;
  std::vector<std::string_view> names;
  names.reserve(functions.size());
  for (const inversion::Tool& tool : functions) names.push_back(tool.name);
  const Result<inversion::ReadBack> read_back = inversion::verify_names(
      *this, plan, names, inversion::may_have_other_names(functions));
  if (!read_back) return read_back.error();
  if (request->tools.choice == inversion::ToolChoice::kAuto) {
    if (auto error = inversion::verify_document(*this, plan, *request)) {
      return *std::move(error);
    }
  }
  std::vector<GrammarNote> left_out;
  if (auto error = inversion::verify_arguments(*this, plan, read_back->texts,
                                               functions, left_out)) {
    return *std::move(error);
  }

  if (auto error =
          inversion::narrow_to_read_values(*impl_, plan, functions, left_out)) {
    return *std::move(error);
  }

  if (plan.calls && !functions.empty() && !impl_->built_in) {
    if (auto error = inversion::narrow_to_read_texts(
            *impl_, plan, read_back->texts, functions, left_out)) {
      return *std::move(error);
    }
  }
  Result<inversion::BuiltTag> built =
      inversion::build_tag(*impl_, plan, *read_back, *request);
  if (!built) return std::move(built).error();
  const auto make = [&](inversion::Beginning begin) -> Result<StructuralTag> {
    Result<structural_tag::TagTree> tree = inversion::load_tag(
        std::move(begin.format), begin.prefix, *request, options.limits);
    if (!tree) {
      // What is wrong in the tag, and not in a schema of the request, comes
      // from the file.
      Error error = std::move(tree).error();
      if (plan.calls && error.path.starts_with("/format")) {
        error.code = ErrorCode::kConflict;
        error.path = inversion::calls_pointer(*impl_, plan);
      }
      return error;
    }
    tree->notes = built->notes;
    tree->notes.insert(tree->notes.end(), left_out.begin(), left_out.end());
    if (!begin.note.empty()) {
      tree->notes.push_back(
          {GrammarNote::Kind::kIgnored, "prefix", "/prefix", begin.note + "."});
    }
    tree->turn_end = impl_->family.reading.turn_end;
    tree->implicit_content = impl_->description.implicit.has_value();
    tree->pattern_dfas = stored.pattern_dfas;
    return detail::Access::make<StructuralTag>(
        std::shared_ptr<const structural_tag::TagTree>(
            std::make_shared<structural_tag::TagTree>(std::move(*tree))));
  };
  std::optional<Result<StructuralTag>> out;
  // Whether there is a tag, or an error that no other beginning is without.
  const auto take = [&](inversion::Beginning begin) {
    Result<StructuralTag> tag = make(std::move(begin));
    if (tag && !detail::Access::impl(*tag)->prefix.empty()) {
      const Result<bool> fits = inversion::fits_prefix(*tag);
      if (fits && !*fits) return false;
      if (!fits) tag = fits.error();
    }
    if (tag) stored.recent.add(options, written, *tag);
    out = std::move(tag);
    return true;
  };
  // A tag of its own, if that is possible; else the whole one after a prefix.
  const auto take_whole = [&](const inversion::Whole& whole) {
    if (auto rest = written.empty()
                        ? std::optional(whole.format)
                        : inversion::after_prefix(whole.format, written)) {
      return take({*std::move(rest), "", whole.note});
    }
    return take({whole.format, written, whole.note});
  };
  std::vector<inversion::Whole> wholes = {{built->format}};
  if (take_whole(wholes.front())) return *std::move(out);
  const ToolSet tools = ToolSet::from_value(options.tools);
  const inversion::WrittenPart read =
      inversion::read_written(*this, written, &tools);
  if (auto error = inversion::check_permitted(*request, read)) {
    return *std::move(error);
  }
  for (const inversion::WiderRequest& wider :
       inversion::wider_requests(*request, read, read_back->one_call_only)) {
    const Result<inversion::BuiltTag> other =
        inversion::build_tag(*impl_, plan, *read_back, wider.request);
    if (!other || other->format == built->format) continue;
    wholes.push_back({other->format, std::string(wider.note)});
    if (!wider.after_calls && take_whole(wholes.back())) return *std::move(out);
    if (!wider.after_calls) continue;
    for (inversion::Whole& whole : wholes) {
      whole.use = inversion::Whole::For::kCalls;
    }
    wholes.back().use = inversion::Whole::For::kOthers;
  }
  const inversion::ToolSelection& selection = request->tools;
  const inversion::CallFacts calls = {
      .field = plan.calls ? impl_->description.fields[*plan.calls].name
                          : std::string_view(),
      .must_come = selection.choice != inversion::ToolChoice::kAuto,
      .only_listed = selection.choice == inversion::ToolChoice::kForced ||
                     !selection.excluded.empty()};
  if (inversion::begin_after(wholes, written, read, calls, take)) {
    return *std::move(out);
  }
  Result<StructuralTag> whole = make({built->format});
  if (!whole) return whole;
  return inversion::prefix_error(*whole, written);
}

Result<Grammar> Format::grammar(const StructuralTagOptions& options) const {
  Result<StructuralTag> tag = structural_tag(options);
  if (!tag) return std::move(tag).error();
  return Grammar::from_structural_tag(*tag);
}

Result<StructuralTag> tool_calling(std::string_view family,
                                   const StructuralTagOptions& options) {
  Result<Format> format = Format::built_in(family);
  if (!format) {
    Error error = std::move(format).error();
    error.path = "/family";
    return error;
  }
  return format->structural_tag(options);
}

}  // namespace parlance

// Any calls of the C interface in any order, with any live handle, of the right
// kind or not: no crash, a status that has a name, and outputs that are
// written.
//
// Each call is a byte for the function, a byte for each handle, and texts with
// a byte for their size.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance_c.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

constexpr std::string_view kFormats[] = {"qwen3", "llama3_1", "gemma4",
                                         "qwen3_coder"};
constexpr std::string_view kRequest =
    R"({"tools": [{"function": {"name": "f"}}]})";

class Calls {
 public:
  Calls(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {
    add_vocabulary();
    add<parlance_format>(parlance_format_free, [](auto** out, auto** error) {
      return parlance_format_built_in("qwen3", 5, out, error);
    });
  }
  ~Calls() {
    while (!handles_.empty()) drop(0);
  }

  void run() {
    // Bounds the time of one input.
    for (int calls = 0; left_ > 0 && calls < 60; ++calls) one();
  }

 private:
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::string_view text() {
    const std::size_t size = std::min<std::size_t>(byte(), left_);
    const std::string_view out(reinterpret_cast<const char*>(data_), size);
    data_ += size;
    left_ -= size;
    return out;
  }

  // Any live handle, as one of T; sometimes NULL.
  template <class T>
  T* any() {
    const std::size_t n = byte() % (handles_.size() + 1);
    return n == handles_.size() ? nullptr : static_cast<T*>(handles_[n].first);
  }

  void drop(std::size_t n) {
    handles_[n].second(handles_[n].first);
    handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  template <class T, class Make>
  void add(void (*free)(T*), const Make& make) {
    T* made = nullptr;
    parlance_error* error = nullptr;
    const parlance_status status = make(&made, &error);
    said(status);
    require((status == PARLANCE_OK) == (made != nullptr), "a handle");
    require(status == PARLANCE_OK ? error == nullptr
                                  : parlance_error_status(error) == status,
            "an error");
    parlance_error_free(error);
    if (made == nullptr) return;
    // Each type has its free function; the list has one type of function.
    static void (*freed)(T*) = nullptr;
    freed = free;
    handles_.emplace_back(made,
                          [](void* handle) { freed(static_cast<T*>(handle)); });
  }

  template <class Make>
  void told(const Make& make) {
    parlance_bytes out = {};
    const parlance_status status = make(&out);
    said(status);
    require((status == PARLANCE_OK) == (out.data != nullptr), "a text");
    require(out.data == nullptr || out.data[out.size] == '\0', "its NUL");
    parlance_free(out.data);
  }

  static void said(parlance_status status) {
    require(status != PARLANCE_INTERNAL, "a defect");
    require(std::string_view(parlance_status_name(status)) != "unknown",
            "a status without a name");
  }

  void add_vocabulary() {
    std::string bytes;
    std::vector<std::uint64_t> ends;
    for (int i = 0; i < 256; ++i) {
      bytes += static_cast<char>(i);
      ends.push_back(bytes.size());
    }
    bytes += "<|im_end|>";
    ends.push_back(bytes.size());
    const std::uint32_t stop = 256;
    parlance_tokens tokens = PARLANCE_TOKENS_INIT;
    tokens.bytes = bytes.data();
    tokens.ends = ends.data();
    tokens.count = ends.size();
    tokens.control_ids = tokens.stop_ids = &stop;
    tokens.control_count = tokens.stop_count = tokens.has_stop_ids = 1;
    add<parlance_vocabulary>(
        parlance_vocabulary_free, [&](auto** out, auto** error) {
          return parlance_vocabulary_from_tokens(&tokens, out, error);
        });
  }

  template <class Call>
  void events(const Call& call) {
    const parlance_event* list = nullptr;
    std::size_t count = 0;
    const parlance_status status = call(&list, &count);
    said(status);
    require(status == PARLANCE_OK || count == 0, "events of a failed call");
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t at = 0; at < list[i].text_size; ++at) {
        sum += static_cast<unsigned char>(list[i].text[at]);
      }
    }
    sum_ = sum;
  }

  void one() {
    switch (byte() % 27) {
      case 0:
        if (!handles_.empty()) drop(byte() % handles_.size());
        return;
      case 1: {
        const std::string_view name = kFormats[byte() % std::size(kFormats)];
        add<parlance_format>(parlance_format_free, [&](auto** out,
                                                       auto** error) {
          return parlance_format_built_in(name.data(), name.size(), out, error);
        });
        return;
      }
      case 2: {
        const std::string_view source = text();
        add<parlance_format>(
            parlance_format_free, [&](auto** out, auto** error) {
              return parlance_format_from_json(source.data(), source.size(),
                                               nullptr, 0, out, error);
            });
        return;
      }
      case 3: {
        const auto* const format = any<parlance_format>();
        told([&](auto* out) {
          return parlance_format_describe(format, out, nullptr);
        });
        return;
      }
      case 4: {
        const std::string_view source = text();
        add<parlance_tools>(parlance_tools_free, [&](auto** out, auto** error) {
          return parlance_tools_from_json(source.data(), source.size(), out,
                                          error);
        });
        return;
      }
      case 5: {
        const auto* const format = any<parlance_format>();
        const std::string_view own = text();
        const std::string_view request = own.empty() ? kRequest : own;
        const auto* const vocabulary = any<parlance_vocabulary>();
        add<parlance_tag>(parlance_tag_free, [&](auto** out, auto** error) {
          return parlance_format_tag(format, request.data(), request.size(),
                                     vocabulary, out, error);
        });
        return;
      }
      case 6: {
        const std::string_view source = text();
        add<parlance_tag>(parlance_tag_free, [&](auto** out, auto** error) {
          return parlance_tag_from_json(source.data(), source.size(), out,
                                        error);
        });
        return;
      }
      case 7: {
        const auto* const tag = any<parlance_tag>();
        const auto* const vocabulary = any<parlance_vocabulary>();
        add<parlance_compiled_tag>(
            parlance_compiled_tag_free, [&](auto** out, auto** error) {
              return parlance_tag_compile(tag, vocabulary, nullptr, nullptr, 0,
                                          out, error);
            });
        return;
      }
      case 8:
      case 9: {
        const bool by_tag = byte() % 2 == 1;
        const auto* const of = any<void>();
        parlance_parser_options options = PARLANCE_PARSER_OPTIONS_INIT;
        options.vocabulary = any<parlance_vocabulary>();
        options.tools = any<parlance_tools>();
        options.stream_calls = byte() % 2;
        options.attempts = byte() % 2;
        options.markers = byte() % 4;
        options.recover = byte() % 4;
        const std::string_view prefix = text();
        options.prefix = prefix.data();
        options.prefix_size = prefix.size();
        add<parlance_parser>(
            parlance_parser_free, [&](auto** out, auto** error) {
              return by_tag ? parlance_parser_new_by_tag(
                                  static_cast<const parlance_compiled_tag*>(of),
                                  &options, out, error)
                            : parlance_parser_new(
                                  static_cast<const parlance_format*>(of),
                                  &options, out, error);
            });
        return;
      }
      case 10:
      case 11:
      case 12: {
        auto* const parser = any<parlance_parser>();
        const std::string_view chunk = text();
        events([&](auto* list, auto* count) {
          return parlance_parser_feed(parser, chunk.data(), chunk.size(),
                                      sizeof **list, list, count);
        });
        return;
      }
      case 13: {
        auto* const parser = any<parlance_parser>();
        const std::string_view bytes = text();
        const std::vector<std::uint32_t> ids(bytes.begin(), bytes.end());
        events([&](auto* list, auto* count) {
          return parlance_parser_feed_tokens(parser, ids.data(), ids.size(),
                                             sizeof **list, list, count);
        });
        return;
      }
      case 14: {
        auto* const parser = any<parlance_parser>();
        events([&](auto* list, auto* count) {
          return parlance_parser_finalize(parser, sizeof **list, list, count);
        });
        return;
      }
      case 15: {
        const auto* const parser = any<parlance_parser>();
        const std::size_t index = byte();
        told([&](auto* out) {
          return parlance_parser_event_json(parser, index, out, nullptr);
        });
        told([&](auto* out) {
          return parlance_parser_result(parser, out, nullptr);
        });
        told([&](auto* out) {
          return parlance_parser_chat_message(parser, out, nullptr);
        });
        told([&](auto* out) {
          return parlance_parser_tree(parser, out, nullptr);
        });
        return;
      }
      case 16: {
        const auto* const format = any<parlance_format>();
        const auto* const tag = any<parlance_compiled_tag>();
        const bool either = byte() % 2 == 1;
        const std::string_view request = text();
        add<parlance_chat>(parlance_chat_free, [&](auto** out, auto** error) {
          return parlance_chat_new(either ? format : nullptr,
                                   either ? nullptr : tag, request.data(),
                                   request.size(), out, error);
        });
        return;
      }
      case 17: {
        auto* const chat = any<parlance_chat>();
        const auto* const parser = any<parlance_parser>();
        told([&](auto* out) {
          return parlance_chat_feed(chat, parser, out, nullptr);
        });
        return;
      }
      case 18: {
        auto* const chat = any<parlance_chat>();
        const auto* const parser = any<parlance_parser>();
        const int why = byte() % 4;
        told([&](auto* out) {
          return parlance_chat_end(chat, why, parser, nullptr, 0, out, nullptr);
        });
        told([&](auto* out) {
          return parlance_chat_response(chat, out, nullptr);
        });
        return;
      }
      case 19: {
        const auto* const vocabulary = any<parlance_vocabulary>();
        add<parlance_compiler>(
            parlance_compiler_free, [&](auto** out, auto** error) {
              return parlance_compiler_new(vocabulary, nullptr, 0, out, error);
            });
        return;
      }
      case 20: {
        const auto* const compiler = any<parlance_compiler>();
        const int language = byte() % 7;
        const std::string_view source = text();
        // Bounds the time of one input.
        constexpr std::string_view kLimits =
            R"({"limits": {"work": 100000, "steps": 100000}})";
        add<parlance_constraint>(
            parlance_constraint_free, [&](auto** out, auto** error) {
              return parlance_compile(compiler, language, source.data(),
                                      source.size(), kLimits.data(),
                                      kLimits.size(), out, error);
            });
        return;
      }
      case 21: {
        const auto* const constraint = any<parlance_constraint>();
        add<parlance_matcher>(
            parlance_matcher_free, [&](auto** out, auto** error) {
              return parlance_matcher_new(constraint, nullptr, out, error);
            });
        return;
      }
      case 22:
      case 23:
        match();
        return;
      case 24: {
        add<parlance_batch>(parlance_batch_free, [&](auto** out, auto** error) {
          return parlance_batch_new(1, out, error);
        });
        auto* const batch = any<parlance_batch>();
        auto* const matcher = any<parlance_matcher>();
        auto* const parser = any<parlance_parser>();
        std::uint32_t row = 0;
        said(parlance_batch_add(batch, matcher, parser, &row, nullptr));
        return;
      }
      case 25:
        step();
        return;
      default: {
        add<parlance_sse>(parlance_sse_free, [&](auto** out, auto** error) {
          return parlance_sse_new(out, error);
        });
        auto* const sse = any<parlance_sse>();
        const std::string_view bytes = text();
        told([&](auto* out) {
          return parlance_sse_feed(sse, bytes.data(), bytes.size(), out,
                                   nullptr);
        });
        told([&](auto* out) { return parlance_sse_faults(sse, out, nullptr); });
        if (byte() % 4 != 0) return;
        told([&](auto* out) {
          return parlance_sse_finalize(sse, out, nullptr);
        });
        return;
      }
    }
  }

  void match() {
    auto* const matcher = any<parlance_matcher>();
    std::int32_t row[9] = {};
    std::int32_t answer = 0;
    const std::uint32_t id = byte() + 2U * (byte() % 2);
    said(parlance_matcher_fill(matcher, row, 9, &answer));
    const bool allowed =
        id < 257 &&
        ((static_cast<std::uint32_t>(row[id / 32]) >> (id % 32)) & 1) != 0;
    std::int32_t accepted = 0;
    const parlance_status status =
        parlance_matcher_accept(matcher, id, &accepted);
    said(status);
    std::uint32_t flags = 0;
    const bool stopped =
        parlance_matcher_state(matcher, nullptr, &flags) != PARLANCE_OK ||
        (flags & (PARLANCE_MATCHER_FAILED | PARLANCE_MATCHER_TERMINATED)) != 0;
    require(stopped || accepted == (allowed ? 1 : 0), "the law of masks");
    said(parlance_matcher_rollback(matcher, byte() % 3, &answer));
    const std::string_view bytes = text();
    said(parlance_matcher_accept_bytes(matcher, bytes.data(), bytes.size(),
                                       &answer));
    told([&](auto* out) {
      return parlance_matcher_forced_text(matcher, 100, out, nullptr);
    });
  }

  void step() {
    auto* const batch = any<parlance_batch>();
    const std::string_view bytes = text();
    const std::vector<std::uint32_t> ids(bytes.begin(), bytes.end());
    std::int32_t masks[18] = {};
    parlance_step steps[2] = {};
    for (parlance_step& one : steps) {
      one.row = byte() % 4;
      one.tokens = ids.data();
      one.token_count = ids.size();
      one.mask_row = static_cast<std::int64_t>(byte() % 4) - 2;
    }
    said(parlance_batch_step(batch, steps, 1 + byte() % 2, sizeof *steps, masks,
                             18, 9, nullptr, nullptr, 0, sizeof(parlance_event),
                             nullptr));
    said(parlance_batch_remove(batch, byte() % 4));
  }

  const std::uint8_t* data_;
  std::size_t left_;
  std::vector<std::pair<void*, void (*)(void*)>> handles_;
  std::size_t sum_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size <= 4000) Calls(data, size).run();
  return 0;
}

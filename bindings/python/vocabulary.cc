// Vocabulary: which bytes each token adds to the text.  Tokenizer objects are
// read by parlance/_tokenizers.py.

#include <nanobind/stl/unique_ptr.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "binding.h"
#include "docstrings.h"
#include "exclusive.h"
#include "interruptible.h"

namespace parlance::python {

namespace {

// Raises Python's own OSError if there is nothing at `path`.
void check_exists(nb::handle path) {
  nb::module_::import_("os").attr("stat")(path);
}

Vocabulary checked(Result<Vocabulary> vocabulary) {
  if (!vocabulary) raise(Domain::kOther, vocabulary.error());
  return *std::move(vocabulary);
}

// Builds a vocabulary without the GIL: a large one takes a second.
Vocabulary made_by(const std::function<Result<Vocabulary>()>& make) {
  Vocabulary made = checked([&] {
    const WithoutGil released;
    return make();
  }());
  check_signals();
  return made;
}

void set_kind(std::vector<TokenEntry>& entries, nb::handle ids,
              std::string_view what, TokenKind kind) {
  for (TokenId id : read_ids(ids, what)) {
    if (id >= entries.size()) {
      raise_usage(std::string(what) + " contains " + std::to_string(id) +
                  ", and tokens has only " + std::to_string(entries.size()) +
                  " entries");
    }
    if (entries[id].kind != TokenKind::kUnused) entries[id].kind = kind;
  }
}

std::optional<std::vector<TokenId>> optional_ids(nb::handle ids,
                                                 std::string_view what) {
  if (ids.is_none()) return std::nullopt;
  return read_ids(ids, what);
}

// Calls `use` with each item of a list or a tuple.  The items are those stored
// in it: a subclass may iterate differently.
template <class Use>
void for_items(nb::handle items, const Use& use) {
  const bool list = PyList_Check(items.ptr());
  // The size is read every time: another thread may change a list.
  for (Py_ssize_t i = 0;
       i < (list ? PyList_Size(items.ptr()) : PyTuple_Size(items.ptr())); ++i) {
    use(nb::borrow(list ? PyList_GetItem(items.ptr(), i)
                        : PyTuple_GetItem(items.ptr(), i)));
  }
}

Vocabulary from_table(nb::handle tokens, nb::handle added_ids,
                      nb::handle control_ids, nb::handle special_ids,
                      nb::handle stop_ids) {
  if (!PyList_Check(tokens.ptr()) && !PyTuple_Check(tokens.ptr())) {
    raise_type("tokens", "a list with the bytes of each token", tokens);
  }
  std::vector<TokenEntry> entries;
  TokenId id = 0;
  for_items(tokens, [&](nb::handle token) {
    if (token.is_none()) {
      entries.push_back({id++, "", TokenKind::kUnused});
    } else {
      entries.push_back({id++, std::string(bytes_of(token, "a token")),
                         TokenKind::kOrdinary});
    }
  });
  set_kind(entries, added_ids, "added_ids", TokenKind::kAdded);
  set_kind(entries, control_ids, "control_ids", TokenKind::kControl);
  set_kind(entries, special_ids, "special_ids", TokenKind::kControl);
  const auto stops = optional_ids(stop_ids, "stop_ids");
  return made_by([&] { return Vocabulary::from_table(entries, stops); });
}

Vocabulary from_tiktoken(nb::handle ranks, nb::handle special) {
  std::vector<TokenEntry> entries;
  if (!PyDict_Check(special.ptr())) {
    raise_type("special", "a dict of spellings and ids", special);
  }
  // A list of its own: __index__ of a value may change the dict.
  const nb::object pairs = items_of(special);
  for_items(pairs, [&](nb::handle pair) {
    const nb::object one = nb::make_tuple(nb::object(pair[1]));
    entries.push_back(
        {read_ids(one, "special")[0],
         std::string(text_of(nb::object(pair[0]), "a key of special")),
         TokenKind::kControl});
  });
  const std::string_view text = text_of(ranks, "ranks");
  return made_by([&] { return Vocabulary::from_tiktoken(text, entries); });
}

TokenSpelling spelling_of(nb::handle name) {
  const std::string_view text = text_of(name, "vocab_type");
  if (text == "raw") return TokenSpelling::kRaw;
  if (text == "byte_fallback") return TokenSpelling::kByteFallback;
  if (text == "byte_level") return TokenSpelling::kByteLevel;
  raise_usage(
      "vocab_type must be \"raw\", \"byte_fallback\" or "
      "\"byte_level\", not \"" +
      std::string(text) + "\"");
}

Vocabulary from_tokens(nb::handle tokens, nb::handle vocab_type,
                       nb::handle vocab_size, nb::handle added_ids,
                       nb::handle control_ids, nb::handle stop_ids) {
  if (!PyList_Check(tokens.ptr()) && !PyTuple_Check(tokens.ptr())) {
    raise_type("tokens", "a list of str or bytes", tokens);
  }
  std::vector<std::string> texts;
  for_items(tokens, [&](nb::handle token) {
    texts.emplace_back(token.is_none() ? std::string_view()
                                       : text_of(token, "a token"));
  });
  const auto added = read_ids(added_ids, "added_ids");
  const auto control = read_ids(control_ids, "control_ids");
  const auto stops = optional_ids(stop_ids, "stop_ids");
  TokenList list{.tokens = texts,
                 .spelling = spelling_of(vocab_type),
                 .added_ids = added,
                 .control_ids = control};
  if (stops) list.stop_ids = *stops;
  if (!vocab_size.is_none()) {
    nb::object one = nb::make_tuple(nb::borrow(vocab_size));
    list.model_size = read_ids(one, "vocab_size")[0];
  }
  return made_by([&] { return Vocabulary::from_tokens(list); });
}

// The function of an encoder, as an object of Python.
//
// The vocabularies that have the encoder, and their compilers, refer to this
// object by an attribute, so that the garbage collector sees whom the function
// belongs to: a tokenizer often refers to the vocabulary that was made of it.
// The library has copies of a vocabulary in many places, of which Python does
// not know; they refer to the object weakly (`self`).  So a function of the
// module that returns a vocabulary of the library returns vocabulary_object().
class EncoderObject {
 public:
  using Self = std::shared_ptr<PyObject*>;  // null when it is gone

  EncoderObject(nb::handle function, Self self)
      : function_(nb::borrow(function)), self_(std::move(self)) {}
  ~EncoderObject() { *self_ = nullptr; }
  EncoderObject(const EncoderObject&) = delete;
  EncoderObject& operator=(const EncoderObject&) = delete;

  nb::handle function() const { return function_; }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(function_.ptr());
    return 0;
  }

 private:
  const nb::object function_;
  const Self self_;
};

// The encoder as the library has it.  It may be called, copied and destroyed on
// any thread.  The library's callers expect no exception: the ids are then
// unknown. An exception stays set in this thread, and the function of the
// module that called the library raises it (EncoderErrors); where there is
// none, as in a thread of the library, it is reported as unraisable.
class PythonEncoder {
 public:
  explicit PythonEncoder(EncoderObject::Self object)
      : object_(std::move(object)) {}

  // The EncoderObject, invalid when it is gone.  REQUIRES: the GIL.
  nb::object object() const { return nb::borrow(*object_); }

  std::vector<TokenId> operator()(std::string_view text) const {
    const WithGil acquired;
    if (PyErr_Occurred() != nullptr) return {};  // of an earlier call
    try {
      const nb::object held = object();
      if (!held.is_valid()) return {};
      const nb::handle function =
          nb::inst_ptr<const EncoderObject>(held)->function();
      return read_ids(function(to_str(text)), "what the encoder returns");
    } catch (nb::python_error& error) {
      if (EncoderErrors::are_raised()) {
        error.restore();
      } else {
        error.discard_as_unraisable("the encoder of a parlance.Vocabulary");
      }
    }
    return {};
  }

 private:
  EncoderObject::Self object_;
};

nb::object with_encoder(const Vocabulary& self, nb::handle encoder) {
  if (encoder.is_none()) return vocabulary_object(self.with_encoder({}));
  if (PyCallable_Check(encoder.ptr()) == 0) {
    raise_type("encoder", "a function of a str", encoder);
  }
  const auto slot = std::make_shared<PyObject*>(nullptr);
  const nb::object object =
      nb::cast(std::make_unique<EncoderObject>(encoder, slot));
  *slot = object.ptr();
  return vocabulary_object(self.with_encoder(PythonEncoder(slot)));
}

Vocabulary from_pretrained(nb::handle folder) {
  const std::string path = path_of(folder);
  check_exists(folder);
  return made_by([&] { return Vocabulary::from_pretrained(path); });
}

Vocabulary from_file(nb::handle file) {
  const std::string path = path_of(file);
  check_exists(file);
  return made_by([&] { return Vocabulary::from_file(path); });
}

Vocabulary from_bytes(nb::handle data) {
  const std::string_view bytes = bytes_of(data, "data");
  return made_by([&] { return Vocabulary::from_bytes(bytes); });
}

Vocabulary load(nb::handle file) {
  const std::string path = path_of(file);
  check_exists(file);
  return made_by([&] { return Vocabulary::load(path); });
}

std::size_t save(const Vocabulary& self, nb::handle file) {
  const std::string path = path_of(file);
  std::optional<Result<std::size_t>> written;
  {
    const WithoutGil released;
    written.emplace(self.save(path));
  }
  if (!*written) raise(Domain::kOther, written->error());
  return **written;
}

nb::object saved_bytes(const Vocabulary& self) {
  std::string bytes;
  {
    const WithoutGil released;
    bytes = self.to_bytes();
  }
  return to_bytes(bytes);
}

Vocabulary from_model_files(nb::handle tokenizer_json,
                            nb::handle tokenizer_config,
                            nb::handle generation_config, nb::handle config) {
  const ModelFiles files = {
      .tokenizer_json = text_of(tokenizer_json, "tokenizer_json"),
      .tokenizer_config = text_of(tokenizer_config, "tokenizer_config"),
      .generation_config = text_of(generation_config, "generation_config"),
      .config = text_of(config, "config")};
  return made_by([&] { return Vocabulary::from_pretrained(files); });
}

}  // namespace

nb::object vocabulary_object(Vocabulary vocabulary) {
  const auto* encoder = vocabulary.encoder().target<PythonEncoder>();
  const nb::object function =
      encoder == nullptr ? nb::object() : encoder->object();
  nb::object out = nb::cast(std::move(vocabulary));
  if (function.is_valid()) out.attr("_encoder") = function;
  return out;
}

void define_vocabulary(nb::module_& m) {
  m.def("read_ids", [](nb::handle ids, nb::handle what) {
    return to_ids(read_ids(ids, str_of(what, "what")));
  });
  const nb::class_<EncoderObject> encoder(
      m, "Encoder", nb::type_slots(kTraversed<EncoderObject>));
  // Attributes are dynamic for `_encoder`, an EncoderObject, and so that Python
  // can cache a compiler in it.
  nb::class_<Vocabulary>(m, "Vocabulary", nb::dynamic_attr(),
                         doc::vocabulary::kClass)
      .def(
          "__init__",
          [](Vocabulary* self, nb::handle tokens, nb::handle added_ids,
             nb::handle control_ids, nb::handle stop_ids,
             nb::handle special_ids) {
            const Making making(self, "vocabulary");
            new (self) Vocabulary(from_table(tokens, added_ids, control_ids,
                                             special_ids, stop_ids));
          },
          nb::arg("tokens"), nb::kw_only(),
          nb::arg("added_ids") = nb::make_tuple(),
          nb::arg("control_ids") = nb::make_tuple(),
          nb::arg("stop_ids") = nb::none(),
          // The older name of control_ids.
          nb::arg("special_ids") = nb::make_tuple(),
          nb::sig("def __init__(self, tokens: Sequence[bytes | None], *, "
                  "added_ids: Sequence[int] = (), control_ids: Sequence[int] = "
                  "(), stop_ids: Sequence[int] | None = None, special_ids: "
                  "Sequence[int] = ()) -> None"),
          doc::vocabulary::kInit)
      .def_static(
          "from_text",
          [](nb::handle text) {
            const std::string_view read = text_of(text, "text");
            return made_by([&] { return Vocabulary::from_text(read); });
          },
          nb::arg("text"),
          nb::sig("def from_text(text: str | bytes) -> Vocabulary"),
          doc::vocabulary::kFromText)
      .def_static(
          "from_tokenizer_json",
          [](nb::handle text) {
            const std::string_view read = text_of(text, "text");
            return made_by(
                [&] { return Vocabulary::from_tokenizer_json(read); });
          },
          nb::arg("text"),
          nb::sig("def from_tokenizer_json(text: str | bytes) -> Vocabulary"),
          doc::vocabulary::kFromTokenizerJson)
      .def_static("from_tiktoken", &from_tiktoken, nb::arg("ranks"),
                  nb::arg("special") = nb::dict(),
                  nb::sig("def from_tiktoken(ranks: str | bytes, special: "
                          "Mapping[str, int] = {}) -> Vocabulary"),
                  doc::vocabulary::kFromTiktoken)
      .def_static(
          "from_file", &from_file, nb::arg("path").none(),
          nb::sig("def from_file(path: str | PathLike[str]) -> Vocabulary"),
          doc::vocabulary::kFromFile)
      .def_static(
          "from_pretrained", &from_pretrained, nb::arg("folder").none(),
          nb::sig(
              "def from_pretrained(folder: str | PathLike[str]) -> Vocabulary"),
          doc::vocabulary::kFromPretrained)
      .def_static(
          "from_model_files", &from_model_files, nb::arg("tokenizer_json"),
          nb::kw_only(), nb::arg("tokenizer_config") = "",
          nb::arg("generation_config") = "", nb::arg("config") = "",
          nb::sig(
              "def from_model_files(tokenizer_json: str | bytes, *, "
              "tokenizer_config: str | bytes = \"\", generation_config: str | "
              "bytes = \"\", config: str | bytes = \"\") -> Vocabulary"),
          doc::vocabulary::kFromModelFiles)
      .def_static(
          "from_tokens", &from_tokens, nb::arg("tokens"),
          nb::arg("vocab_type") = "raw", nb::kw_only(),
          nb::arg("vocab_size") = nb::none(),
          nb::arg("added_ids") = nb::make_tuple(),
          nb::arg("control_ids") = nb::make_tuple(),
          nb::arg("stop_ids") = nb::none(),
          nb::sig(
              "def from_tokens(tokens: Sequence[str | bytes | None], "
              "vocab_type: Literal[\"raw\", \"byte_fallback\", \"byte_level\"] "
              "= \"raw\", *, vocab_size: int | None = None, added_ids: "
              "Sequence[int] = (), control_ids: Sequence[int] = (), stop_ids: "
              "Sequence[int] | None = None) -> Vocabulary"),
          doc::vocabulary::kFromTokens)
      .def_static("from_bytes", &from_bytes, nb::arg("data"),
                  nb::sig("def from_bytes(data: bytes) -> Vocabulary"),
                  doc::vocabulary::kFromBytes)
      .def_static("load", &load, nb::arg("path").none(),
                  nb::sig("def load(path: str | PathLike[str]) -> Vocabulary"),
                  doc::vocabulary::kLoad)
      .def("to_bytes", &saved_bytes, nb::sig("def to_bytes(self) -> bytes"),
           doc::vocabulary::kToBytes)
      .def("save", &save, nb::arg("path").none(),
           nb::sig("def save(self, path: str | PathLike[str]) -> int"),
           doc::vocabulary::kSave)
      .def("__getstate__", &saved_bytes)
      .def("__setstate__",
           [](Vocabulary& self, nb::handle state) {
             const Making making(&self, "vocabulary");
             new (&self) Vocabulary(from_bytes(state));
           })
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def("__deepcopy__",
           [](nb::handle self, nb::handle) { return nb::borrow(self); })
      .def_static(
          "from_tokenizer",
          [](nb::handle tokenizer, nb::handle stop_ids) {
            return nb::object(nb::module_::import_("parlance._tokenizers")
                                  .attr("vocabulary_of")(tokenizer, stop_ids));
          },
          nb::arg("tokenizer").none(), nb::kw_only(),
          nb::arg("stop_ids") = nb::none(),
          nb::sig("def from_tokenizer(tokenizer: object, *, stop_ids: "
                  "Sequence[int] | None = None) -> Vocabulary"),
          doc::vocabulary::kFromTokenizer)
      .def(
          "with_stop_ids",
          [](const Vocabulary& self, nb::handle ids) {
            return vocabulary_object(
                checked(self.with_stop_ids(read_ids(ids, "ids"))));
          },
          nb::arg("ids"),
          nb::sig("def with_stop_ids(self, ids: Sequence[int]) -> Vocabulary"),
          doc::vocabulary::kWithStopIds)
      .def("with_encoder", &with_encoder, nb::arg("encoder").none(),
           nb::sig("def with_encoder(self, encoder: Callable[[str], "
                   "Sequence[int]] | None) -> Vocabulary"),
           doc::vocabulary::kWithEncoder)
      .def(
          "with_space_after_marks",
          [](const Vocabulary& self, bool space) {
            return vocabulary_object(self.with_space_after_marks(space));
          },
          nb::arg("space"),
          nb::sig(
              "def with_space_after_marks(self, space: bool) -> Vocabulary"),
          doc::vocabulary::kWithSpaceAfterMarks)
      .def(
          "encode",
          [](const Vocabulary& self, nb::handle text) -> nb::object {
            if (!self.encoder()) {
              raise_usage(
                  "the vocabulary has no encoder; from_tokenizer and "
                  "with_encoder give it one");
            }
            const EncoderErrors errors;
            const std::vector<TokenId> ids =
                self.encoder()(text_of(text, "text"));
            errors.check();
            return to_ids(ids);
          },
          nb::arg("text"),
          nb::sig("def encode(self, text: str | bytes) -> list[int]"),
          doc::vocabulary::kEncode)
      .def("__len__", &Vocabulary::size, doc::vocabulary::kLen)
      .def(
          "bytes",
          [](const Vocabulary& self, nb::handle id) {
            return to_bytes(self.bytes(read_id(id, "id")));
          },
          nb::arg("id"), nb::sig("def bytes(self, id: int) -> bytes"),
          doc::vocabulary::kBytes)
      .def(
          "spelling",
          [](const Vocabulary& self, nb::handle id) {
            return to_bytes(self.spelling(read_id(id, "id")));
          },
          nb::arg("id"), nb::sig("def spelling(self, id: int) -> bytes"),
          doc::vocabulary::kSpelling)
      .def(
          "kind",
          [](const Vocabulary& self, nb::handle id) {
            // ORDER: TokenKind
            constexpr const char* kNames[] = {"ordinary", "added", "control",
                                              "unused"};
            return kNames[static_cast<std::size_t>(
                self.kind(read_id(id, "id")))];
          },
          nb::arg("id"),
          nb::sig("def kind(self, id: int) -> Literal[\"ordinary\", \"added\", "
                  "\"control\", \"unused\"]"),
          doc::vocabulary::kKind)
      .def(
          "special",
          [](const Vocabulary& self, nb::handle text) -> nb::object {
            std::optional<TokenId> id = self.special(text_of(text, "text"));
            if (!id) return nb::none();
            return to_int(*id);
          },
          nb::arg("text"),
          nb::sig("def special(self, text: str | bytes) -> int | None"),
          doc::vocabulary::kSpecial)
      .def(
          "decode",
          [](const Vocabulary& self, nb::handle ids) {
            return to_str(self.decode(read_ids(ids, "ids")));
          },
          nb::arg("ids"),
          nb::sig("def decode(self, ids: Sequence[int]) -> str"),
          doc::vocabulary::kDecode)
      .def_prop_ro(
          "special_ids",
          [](const Vocabulary& self) { return to_ids(self.special_ids()); },
          doc::vocabulary::kSpecialIds)
      .def_prop_ro(
          "stop_ids",
          [](const Vocabulary& self) { return to_ids(self.stop_ids()); },
          doc::vocabulary::kStopIds)
      .def_prop_ro("has_stop_ids", &Vocabulary::has_stop_ids,
                   doc::vocabulary::kHasStopIds)
      .def_prop_ro("strip_leading_space", &Vocabulary::strip_leading_space,
                   doc::vocabulary::kStripLeadingSpace)
      .def_prop_ro("space_after_marks", &Vocabulary::space_after_marks,
                   doc::vocabulary::kSpaceAfterMarks)
      .def_prop_ro(
          "has_encoder",
          [](const Vocabulary& self) {
            return static_cast<bool>(self.encoder());
          },
          doc::vocabulary::kHasEncoder);
}

}  // namespace parlance::python

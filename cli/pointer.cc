#include "pointer.h"

#include "parlance/error.h"

namespace parlance::cli {

std::optional<Span> locate(std::string_view json, std::string_view pointer) {
  const std::optional<JsonPlace> place = find_json_place(json, pointer);
  if (!place) return std::nullopt;
  const std::size_t begin = place->value.begin;
  if (json[begin] != '{' && json[begin] != '[') return place->value;
  return place->key ? place->key : Span{begin, begin + 1};
}

}  // namespace parlance::cli

// The evaluator over the values of a host.
//
// A value is either the host's or JSON that the evaluator made itself: literals
// of the expression, verdicts, numbers and strings that functions give.  Those
// become the host's only where they get into an answer.

#include <optional>
#include <utility>

#include "jmespath/evaluate.h"
#include "jmespath/evaluator.h"
#include "parlance/jmespath.h"

namespace parlance::jmespath {
namespace {

using Handle = JmespathHost::Handle;

const Value kNull;

// One reference to a value of the host, or a JSON value.
class Ref {
 public:
  Ref() noexcept = default;
  Ref(Value value) noexcept : value_(std::move(value)) {}
  // Takes the reference over.
  Ref(JmespathHost& host, Handle handle) noexcept
      : host_(&host), handle_(handle) {}
  Ref(const Ref& other)
      : host_(other.host_),
        handle_(other.handle_ != nullptr ? host_->retain(other.handle_)
                                         : nullptr),
        value_(other.value_) {}
  Ref(Ref&& other) noexcept
      : host_(other.host_),
        handle_(std::exchange(other.handle_, nullptr)),
        value_(std::move(other.value_)) {}
  Ref& operator=(const Ref& other) { return *this = Ref(other); }
  Ref& operator=(Ref&& other) noexcept {
    const Handle old =
        std::exchange(handle_, std::exchange(other.handle_, nullptr));
    JmespathHost* const host = std::exchange(host_, other.host_);
    value_ = std::move(other.value_);
    if (old != nullptr) host->release(old);
    return *this;
  }
  ~Ref() {
    if (handle_ != nullptr) host_->release(handle_);
  }

  Handle handle() const { return handle_; }
  const Value& value() const { return value_ ? *value_ : kNull; }
  bool is_default() const { return handle_ == nullptr && !value_; }
  Handle take() { return std::exchange(handle_, nullptr); }

 private:
  JmespathHost* host_ = nullptr;
  Handle handle_ = nullptr;
  // When there is no handle.  Most references have one, and moving nothing is
  // cheaper than moving null.
  std::optional<Value> value_ = std::nullopt;
};

class HostModel {
 public:
  using V = Ref;

  explicit HostModel(JmespathHost& host) : host_(&host) {}

  static bool is_untouched(const V& v) { return v.is_default(); }
  Kind kind(const V& v) const {
    return v.handle() != nullptr ? host_->kind(v.handle()) : v.value().kind();
  }
  bool is_null(const V& v) const {
    return v.handle() != nullptr ? host_->is_null(v.handle())
                                 : v.value().is_null();
  }
  bool is_true(const V& v) const {
    if (v.handle() != nullptr) return host_->is_true(v.handle());
    return is_number(v.value()) || v.value().truthy();
  }
  std::size_t size(const V& v) const {
    return v.handle() != nullptr ? host_->size(v.handle()) : v.value().size();
  }
  std::size_t length(const V& v) const {
    return v.handle() == nullptr && v.value().is_string()
               ? base::count_code_points(v.value().as_string())
               : size(v);
  }
  Value json(const V& v) const {
    return v.handle() != nullptr ? host_->to_json(v.handle()) : v.value();
  }
  Array scalars(const V& v) const {
    Array out;
    out.reserve(size(v));
    each(v, [&](const V& item) {
      out.push_back(json(item));
      return true;
    });
    return out;
  }

  const V* find(const V& v, const Node& field, V& slot) const {
    if (v.handle() != nullptr) {
      return put(slot, host_->find(v.handle(), field.numbers[0]));
    }
    return put(slot, v.value().find(field.name));
  }
  const V* element(const V& v, std::size_t i, V& slot) const {
    if (v.handle() != nullptr) {
      return put(slot, host_->element(v.handle(), i));
    }
    const Array& items = v.value().items();
    return put(slot, i < items.size() ? &items[i] : nullptr);
  }
  static const V* literal(const Node& node, V& slot) {
    slot = V(node.literal);
    return &slot;
  }

  template <class F>
  bool each(const V& v, F f) const {
    // Asked for one by one: the host's array may change meanwhile.
    V item;
    for (std::size_t i = 0; element(v, i, item) != nullptr; ++i) {
      if (!f(std::as_const(item))) return false;
    }
    return true;
  }
  template <class F>
  bool each_member(const V& v, F f) const {
    return each(values(v), f);
  }

  V keys(const V& v) const {
    const V object = hosted(v);
    return made(object.handle() != nullptr ? host_->keys(object.handle())
                                           : nullptr);
  }
  V values(const V& v) const {
    const V object = hosted(v);
    return made(object.handle() != nullptr ? host_->values(object.handle())
                                           : nullptr);
  }

  // `v` as a value of the host.
  V hosted(const V& v) const {
    return v.handle() != nullptr ? v : made(host_->make(v.value()));
  }

  class List {
   public:
    List(const HostModel& model, std::size_t)
        : host_(*model.host_), array_(model.made(host_.make_array())) {}
    void push(V v) {
      if (array_.handle() == nullptr) return;
      const bool made = v.handle() == nullptr;
      host_.append(array_.handle(), made ? host_.make(v.value()) : v.take());
    }
    V take() { return std::move(array_); }

   private:
    JmespathHost& host_;
    V array_;
  };

  class Members {
   public:
    Members(const HostModel& model, std::size_t)
        : model_(model), object_(model.made(model.host_->make_object())) {}
    void set(const Node& node, std::size_t i, V v) {
      if (object_.handle() == nullptr) return;
      JmespathHost& host = *model_.host_;
      const bool made = v.handle() == nullptr;
      host.set(object_.handle(), node.numbers[i],
               made ? host.make(v.value()) : v.take());
    }
    void merge(const V& v) {
      const V other = model_.hosted(v);
      if (object_.handle() == nullptr || other.handle() == nullptr) return;
      model_.host_->merge(object_.handle(), other.handle());
    }
    V take() { return std::move(object_); }

   private:
    const HostModel& model_;
    V object_;
  };

 private:
  V made(Handle handle) const {
    return handle != nullptr ? V(*host_, handle) : V();
  }
  const V* put(V& slot, Handle handle) const {
    if (handle == nullptr) return nullptr;
    slot = V(*host_, handle);
    return &slot;
  }
  // `part` may lie in `slot`.
  static const V* put(V& slot, const Value* part) {
    if (part == nullptr) return nullptr;
    slot = V(*part);
    return &slot;
  }

  JmespathHost* host_;
};

}  // namespace

Result<void*> evaluate(const Expression& expression, JmespathHost& host,
                       void* value) {
  const HostModel model(host);
  Result<Ref> found = Evaluator<HostModel>(expression, model)
                          .run(Ref(host, host.retain(value)));
  if (!found) return std::move(found).error();
  return model.hosted(*found).take();
}

}  // namespace parlance::jmespath

#ifndef PARLANCE_BINDINGS_PYTHON_EXCLUSIVE_H_
#define PARLANCE_BINDINGS_PYTHON_EXCLUSIVE_H_

// Objects that change: one call at a time.
//
// While a call of a parser runs, other code can run that has the same parser:
// another thread, where the GIL is released, and in the same thread whatever
// Python runs while the call reads the caller's objects and makes its own: a
// finalizer, `__index__`, a callback, a handler of a signal.  If this code
// calls the parser, it must not find it half changed, nor may it change the
// events that the first call is still reading.
//
// So each object that changes is an Exclusive, which has a flag, and its class
// is defined by ExclusiveClass: every method and property takes the flag before
// it begins and leaves it when its result has been made.  A call that finds the
// flag taken raises UsageError.  What uses several such objects, as a step of a
// batch does, takes the flags of all (Uses).
//
// Members that never change are read without the flag (def_ro).

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory_resource>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "binding.h"

namespace parlance::python {

// The flag.
class InUse {
 public:
  // For one user: while there is one, all others fail.
  bool take() {
#if defined(Py_GIL_DISABLED)
    int free = kFree;
    return users_.compare_exchange_strong(
        free, kTaken, std::memory_order_acquire, std::memory_order_relaxed);
#else
    // The caller has the GIL, so nobody comes between.  An exchange would be a
    // tenth of a short call.
    if (users_.load(std::memory_order_relaxed) != kFree) return false;
    users_.store(kTaken, std::memory_order_relaxed);
    return true;
#endif
  }
  void leave() { users_.store(kFree, std::memory_order_release); }

  // For any number of users, while none has taken it for itself.
  bool join() {
    int users = users_.load(std::memory_order_relaxed);
    while (users >= kFree) {
      if (users_.compare_exchange_weak(users, users + 1,
                                       std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void part() { users_.fetch_sub(1, std::memory_order_release); }

 private:
  static constexpr int kFree = 0;  // more: that many users have joined
  static constexpr int kTaken = -1;

  std::atomic<int> users_ = kFree;
};

// The base of the objects.  `T::kWhat` says in messages what it is, and whom it
// is for, as in "parser; a parser is for one response".
class Exclusive {
 public:
  InUse in_use;
};

// Raises UsageError.  `what` is the kWhat of a class.
[[noreturn]] void raise_in_use(std::string_view what);

// One use of an object.
class Use {
 public:
  template <class T>
  explicit Use(T& object) : flag_(object.in_use) {
    if (!flag_.take()) raise_in_use(T::kWhat);
  }
  ~Use() { flag_.leave(); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  InUse& flag_;
};

// The same, beside others.
class SharedUse {
 public:
  template <class T>
  explicit SharedUse(T& object) : flag_(object.in_use) {
    if (!flag_.join()) raise_in_use(T::kWhat);
  }
  ~SharedUse() { flag_.part(); }
  SharedUse(const SharedUse&) = delete;
  SharedUse& operator=(const SharedUse&) = delete;

 private:
  InUse& flag_;
};

// One constructor of an object at `place`: `__init__` of the same object may be
// called while it runs, and there is no flag yet.
class Making {
 public:
  Making(const void* place, std::string_view what) : place_(place) {
    if (!add()) raise_in_use(what);
  }
  ~Making() {
    const std::lock_guard lock(mutex_);
    std::erase(places_, place_);
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

 private:
  bool add() const {
    const std::lock_guard lock(mutex_);
    if (std::find(places_.begin(), places_.end(), place_) != places_.end()) {
      return false;
    }
    places_.push_back(place_);
    return true;
  }

  static inline std::mutex mutex_;
  // Never destroyed: threads may run while the process exits.
  static inline std::vector<const void*>& places_ =
      *new std::vector<const void*>;

  const void* const place_;
};

// One use of many objects.
class Uses {
 public:
  explicit Uses(
      std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : taken_(memory) {}
  ~Uses() {
    for (InUse* one : taken_) one->leave();
  }
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;

  // Returns false, and takes nothing, if the object is in use.
  bool take(InUse& one) {
    taken_.push_back(&one);  // may fail, and must not after take()
    if (one.take()) return true;
    taken_.pop_back();
    return false;
  }

 private:
  std::pmr::vector<InUse*> taken_;
};

// The function of a class that calls `call` during one use (a `Guard`) of the
// object.
template <class Guard, class T, class R, class... Args>
auto during_use(auto call) {
  return [call](T& self, Args... args) -> R {
    const Guard guard(self);
    return std::invoke(call, self, std::forward<Args>(args)...);
  };
}
template <class Guard, class T, class R, class... Args>
auto guarded(R (T::*call)(Args...)) {
  return during_use<Guard, T, R, Args...>(call);
}
template <class Guard, class T, class R, class... Args>
auto guarded(R (T::*call)(Args...) const) {
  return during_use<Guard, T, R, Args...>(call);
}
template <class Guard, class T, class R, class... Args>
auto guarded(R (*call)(T&, Args...)) {
  return during_use<Guard, std::remove_const_t<T>, R, Args...>(call);
}
template <class Guard, class Lambda>
requires std::is_class_v<Lambda>
auto guarded(Lambda call) { return guarded<Guard>(+call); }

// Defines the class of `T`, an Exclusive, as nb::class_ does.
template <class T>
class ExclusiveClass {
 public:
  template <class... Extra>
  ExclusiveClass(nb::module_& m, const char* name, const Extra&... extra)
      : class_(m, name, extra...) {}

  template <class... Args, class... Extra>
  ExclusiveClass& def(nb::init<Args...> /*init*/, const Extra&... extra) {
    class_.def(
        "__init__",
        [](T* self, Args... args) {
          const Making making(self, T::kWhat);
          new (self) T(std::forward<Args>(args)...);
        },
        extra...);
    return *this;
  }
  template <class... Extra>
  ExclusiveClass& def(const char* name, auto call, const Extra&... extra) {
    class_.def(name, guarded<Use>(call), extra...);
    return *this;
  }
  // A method that may run beside others of its kind.
  template <class... Extra>
  ExclusiveClass& def_shared(const char* name, auto call,
                             const Extra&... extra) {
    class_.def(name, guarded<SharedUse>(call), extra...);
    return *this;
  }
  template <class... Extra>
  ExclusiveClass& def_prop_ro(const char* name, auto call,
                              const Extra&... extra) {
    class_.def_prop_ro(name, guarded<Use>(call), extra...);
    return *this;
  }
  // A member that never changes.
  template <class Member, class... Extra>
  ExclusiveClass& def_ro(const char* name, const Member T::*member,
                         const Extra&... extra) {
    class_.def_ro(name, member, extra...);
    return *this;
  }

 private:
  nb::class_<T> class_;
};

}  // namespace parlance::python

#endif  // PARLANCE_BINDINGS_PYTHON_EXCLUSIVE_H_

// Shared by the tests of resolving behaviors: one node, remote objects, and actors that record what they handle.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <troupe/framework/resolving.hpp>

#include "fake_object.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {

using doubles = array<double>;
using stir_atom = caf::atom_constant<caf::atom("stir")>;
using note_atom = caf::atom_constant<caf::atom("note")>;
using turn_atom = caf::atom_constant<caf::atom("turn")>;

/// Records what actors have handled, in order.
class notes {
public:
  void add(std::string text) {
    std::lock_guard guard{mutex_};
    all_.push_back(std::move(text));
  }
  std::vector<std::string> all() const {
    std::lock_guard guard{mutex_};
    return all_;
  }
  bool become(const std::vector<std::string>& expected) const {
    return eventually([&] { return all() == expected; });
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_; // Guarded by mutex_.
};

/// Handles readings, doubles, and texts to record.
inline caf::behavior noting(caf::event_based_actor* self, std::shared_ptr<notes> to) {
  return troupe::resolving{self,
                           [to](const reading& value) {
                             to->add(value.sensor);
                             return value.celsius;
                           },
                           [to](stir_atom, const doubles& values) {
                             to->add("doubles");
                             return values[0];
                           },
                           [to](note_atom, const std::string& text) {
                             to->add(text);
                             return true;
                           }};
}

class resolving_test : public testing::Test {
protected:
  template <class T>
  object_ref<T> put(const T& value) {
    auto ref = home_.home->put(value);
    if (!ref)
      throw std::runtime_error(ref.error().message());
    return *ref;
  }
  far_object<reading> far_reading(const std::string& sensor) { return far_object(put(reading{sensor, 20, {}})); }

  template <class... Arguments>
  caf::actor spawn(Arguments&&... arguments) {
    return keep(home_.system.spawn(std::forward<Arguments>(arguments)...));
  }
  /// Sends the actor an exit message when the test ends.
  caf::actor keep(caf::actor actor) {
    kept_.push_back(actor);
    return actor;
  }
  void TearDown() override {
    for (const auto& one : kept_)
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    kept_.clear();
  }

  /// Sends a request from a new sender and returns its result.
  template <class Result, class... Arguments>
  auto ask(const caf::actor& whom, Arguments&&... arguments) {
    return tests::ask<Result>(home_.system, whom, std::forward<Arguments>(arguments)...);
  }

  std::shared_ptr<notes> notes_ = std::make_shared<notes>();
  side home_{node_options{}};

private:
  std::vector<caf::actor> kept_;
};

} // namespace troupe::tests

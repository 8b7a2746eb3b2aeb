// The two nodes that hold a conversation, with everything that they say: families, handles of actors, objects.
//
// Recorded conversations are played against these actors for ever. Therefore what they say may not change: a change
// would make them answer a recording differently. A new idea gets a new conversation.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include <troupe/framework/node.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe::tests::compat {

struct letter {
  std::int32_t number = 0;
  std::uint64_t large = 0;
  double ratio = 0;
  bool is_urgent = false;
  std::string text;
  std::vector<std::int32_t> numbers;
  std::map<std::string, double> values;
  friend bool operator==(const letter&, const letter&) = default;
};
TROUPE_DESCRIBE(letter, number, large, ratio, is_urgent, text, numbers, values)

/// The family "caf" does not carry it.
struct card {
  std::optional<std::string> note;
  std::optional<letter> enclosed;
  friend bool operator==(const card&, const card&) = default;
};
TROUPE_DESCRIBE(card, note, enclosed)

/// An object that captures another one.
struct shelf {
  std::string label;
  object_ref<array<double>> load;
};
TROUPE_DESCRIBE(shelf, label, load)

/// Only the dialer has this type.
struct stranger {
  std::int32_t value = 0;
};
TROUPE_DESCRIBE(stranger, value)

inline const std::vector<std::string> families{"typed", "msgpack", "json", "cereal", "caf"};
[[nodiscard]] inline bool carries_cards(const std::string& family) {
  return family != "caf";
}

/// What did not go as it should, from any thread.
class findings {
public:
  void add(std::string what);
  void expect(bool right, const std::string& what) {
    if (!right)
      add(what);
  }
  [[nodiscard]] std::vector<std::string> all() const;

private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_; // Guarded by mutex_.
};

/// A node with everything that it needs.
class cast_node {
public:
  enum class role : std::uint8_t { dialer, acceptor };

  /// `family` encodes and decodes all values, and `address` is empty if the node does not listen.
  cast_node(role as, const std::string& family, const std::string& address = {});
  ~cast_node();

  [[nodiscard]] node& home() { return *home_; }
  [[nodiscard]] caf::actor_system& system() { return system_; }

private:
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  std::optional<node> home_;
};

/// The options of both ends of the link.
[[nodiscard]] link_options options_of(const std::string& family);

/// The listening end.
class acceptor_cast {
public:
  explicit acceptor_cast(const std::string& family);
  ~acceptor_cast();

  [[nodiscard]] std::string address();
  [[nodiscard]] node& home() { return node_.home(); }

  /// Expects that the actors have got everything that a dialer says, once, with the right values.
  [[nodiscard]] std::vector<std::string> problems() const;

private:
  caf::behavior echo(caf::event_based_actor* self);
  caf::behavior collector();

  struct heard {
    std::atomic<int> letters{0}, cards{0}, ints{0}, pairs{0}, texts{0}, urgent{0}, collected{0}, guests{0}, arrays{0},
        shelves{0}, given{0};
  };

  const std::string family_;
  findings findings_;
  heard heard_;
  cast_node node_;
  std::vector<caf::actor> actors_;
};

/// Dials `address` and says everything that a dialer says. Calls `before_close` when all has been said and nothing is
/// kept any more. Returns what did not go as it should.
[[nodiscard]] std::vector<std::string> hold_conversation(const std::string& family, const std::string& address,
                                                         const std::function<void()>& before_close);

} // namespace troupe::tests::compat

// The two nodes that talk through a lasting handle, with what protocol 1.3 and 1.4 have added: traces, repeated
// requests, news about names.
//
// Recorded conversations are played against these actors for ever. Therefore what they say may not change: a change
// would make them answer a recording differently. A new idea gets a new subject.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include <troupe/framework/node.hpp>

#include "../framework/span_collector.hpp"

#include "cast.hpp"
#include "subject.hpp"

namespace troupe::tests::compat {

/// A node without a store that records the spans of sampled traces.
class lasting_node {
public:
  /// `family` encodes and decodes all values, and `address` is empty if the node does not listen.
  lasting_node(const std::string& name, const std::string& family, const std::string& address = {});

  [[nodiscard]] node& home() { return *home_; }
  [[nodiscard]] caf::actor_system& system() { return system_; }
  [[nodiscard]] const span_collector& spans() const { return *spans_; }

private:
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  const std::shared_ptr<span_collector> spans_ = std::make_shared<span_collector>();
  std::optional<node> home_;
};

/// The listening end. Publishes a ledger, and later another one in its place.
class lasting_acceptor_cast {
public:
  explicit lasting_acceptor_cast(const std::string& family);
  ~lasting_acceptor_cast();

  [[nodiscard]] std::string address() { return node_.home().addresses().front(); }

  /// Expects that the ledgers have got everything that a dialer says, once, in the right traces.
  [[nodiscard]] std::vector<std::string> problems() const;

private:
  caf::behavior ledger(caf::event_based_actor* self, int number);
  caf::result<int> traced(caf::event_based_actor* self, int number, int entry, const caf::actor& witness);
  void withdraw();
  void publish(int number);

  struct heard {
    std::atomic<int> entries{0}, refused{0}, traced{0}, wishes{0};
  };

  findings findings_;
  heard heard_;
  lasting_node node_;
  std::vector<caf::actor> ledgers_; // The first and the second one.
};

/// subject::talk.
[[nodiscard]] std::vector<std::string> talk_by_a_lasting_handle(const std::string& family, const std::string& address,
                                                                const conversation_events& events);

} // namespace troupe::tests::compat

// What a link needs from its node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/caf_port/answer_memory.hpp>
#include <troupe/framework/internal/caf_port/encoding_cache.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/link/actor_recognition.hpp>
#include <troupe/framework/internal/link/late_figures.hpp>
#include <troupe/framework/internal/net/ring_budget.hpp>
#include <troupe/framework/internal/objects/handle_counter.hpp>
#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/internal/tape/remote_recordings.hpp>
#include <troupe/framework/internal/tape/tape_recorders.hpp>
#include <troupe/framework/internal/threads/loop_seat.hpp>
#include <troupe/framework/internal/traces/span_recorder.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/watch/lost_links.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/link_stats.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>
#include <troupe/store/object_store.hpp>

namespace asio {
class io_context;
}

namespace troupe::internal {

class dead_letter_box;
class job_actor;
class known_peers;
class node_link;
class shared_helpers;
class store_reaper;

/// Where to find the nodes that peers name.
class whereabouts_book {
public:
  virtual ~whereabouts_book() = default;

  /// What a node has said about itself.
  struct own_words {
    std::vector<std::string> addresses;
    bool is_on_this_host = false;
  };
  /// Threads: any.
  [[nodiscard]] virtual std::optional<own_words> of(const handles::node_name& who) const = 0;
  /// Remembers where `who` listens. The peer of that link has said so of itself or of another node. Threads: any.
  virtual void learn(const std::shared_ptr<node_link>& from, const handles::node_name& who,
                     std::vector<std::string> addresses) = 0;
  /// Forgets what came over the link with that node_link::serial, which has ended. Threads: any.
  virtual void forget(std::uint64_t link) = 0;
};

/// Finds the actors that this node has published by their names. Threads: any.
class name_book {
public:
  virtual ~name_book() = default;

  /// Returns null if nothing has that name.
  [[nodiscard]] virtual caf::strong_actor_ptr find(std::string_view name) const = 0;
  /// All names, with their actors.
  [[nodiscard]] virtual std::vector<std::pair<std::string, caf::strong_actor_ptr>> all() const = 0;
};

/// The links of the node. Threads: any.
template <class Link>
class link_book : public actor_recognition, public late_figures {
public:
  virtual void note_opened() noexcept = 0;
  /// Counts a peer that has failed in the handshake.
  virtual void note_refused_peer() noexcept = 0;
  /// Removes the link. Does nothing if the link is not listed, or no longer listed.
  virtual void ended(Link* link) = 0;
};

/// The entrances through which peers connect to the node.
class entrance_book {
public:
  virtual ~entrance_book() = default;

  /// Where this node listens, with the ports that the system chose. Threads: any.
  [[nodiscard]] virtual std::vector<std::string> addresses() const = 0;
  /// Removes the link from those whose peers are unproven, because its peer has proven its identity or the link has
  /// ended. Does nothing if the link is not among them. Threads: any.
  virtual void unproven_peer_is_gone(node_link* link) = 0;
};

/// Gives links what they need from their node.
///
/// Threads: any for every member. The returned objects state their own rules.
/// Lifetime: its links keep it.
class link_host {
public:
  link_host(const link_host&) = delete;
  link_host& operator=(const link_host&) = delete;
  virtual ~link_host() = default;

  // -- constant while there are links

  [[nodiscard]] caf::actor_system& system() const noexcept { return system_; }
  [[nodiscard]] const type_registry& types() const noexcept { return types_; }
  [[nodiscard]] const family_set& families() const noexcept { return families_; }
  [[nodiscard]] const node_options& options() const noexcept { return options_; }
  [[nodiscard]] const std::optional<store::object_store>& store() const noexcept { return store_; }
  /// The environment for reading objects that this node has put.
  [[nodiscard]] const std::shared_ptr<const object_environment>& objects() const noexcept { return objects_; }
  /// Null if the node has no store.
  [[nodiscard]] const std::shared_ptr<handle_counter>& exchange() const noexcept { return exchange_; }
  /// The context of the main I/O loop, which handles what concerns the whole node. A link has its own loop: loop_seat.
  [[nodiscard]] asio::io_context& io() noexcept { return *io_; }
  [[nodiscard]] encoding_cache& encodings() noexcept { return *encodings_; }
  /// The key by which peers recognize this node.
  [[nodiscard]] const node_key& key() const noexcept { return key_; }
  [[nodiscard]] const std::shared_ptr<span_recorder>& spans() const noexcept { return spans_; }
  /// The answers to requests that peers may repeat.
  [[nodiscard]] const std::shared_ptr<answer_memory>& answers() const noexcept { return answers_; }
  /// Limits the log lines of all links together, because peers decide how many links there are.
  [[nodiscard]] limited_log& lines() noexcept { return lines_; }

  // -- the parts of the node

  [[nodiscard]] virtual name_book& names() noexcept = 0;
  /// The peer of that link says that a name which this node has found was withdrawn or published anew.
  virtual void name_changed_there(std::uint64_t link, const std::string& name) = 0;
  [[nodiscard]] virtual link_book<node_link>& links() noexcept = 0;
  [[nodiscard]] virtual entrance_book& entrances() noexcept = 0;
  /// The nodes to which this one is linked.
  [[nodiscard]] virtual known_peers& peers() noexcept = 0;
  [[nodiscard]] virtual shared_helpers& helpers() noexcept = 0;
  /// The memory for the rings of links.
  [[nodiscard]] ring_budget& rings() noexcept { return rings_; }
  /// The tapes on which links are recorded.
  [[nodiscard]] tape_recorders& recorders() noexcept { return recorders_; }
  /// The links that have ended.
  [[nodiscard]] lost_links& lost() noexcept { return lost_; }
  [[nodiscard]] const lost_links& lost() const noexcept { return lost_; }
  /// What other nodes record here.
  [[nodiscard]] remote_recordings& observers() noexcept { return observers_; }
  /// Encodes large messages. It encodes few of them at a time for the whole node, so that links take turns.
  [[nodiscard]] virtual job_actor& encoder() noexcept = 0;
  [[nodiscard]] virtual dead_letter_box& letters() noexcept = 0;
  /// Requires: the node has a store. Threads: the main loop's thread.
  [[nodiscard]] virtual store_reaper& reaper() noexcept = 0;
  /// Requires: the node has a store.
  [[nodiscard]] virtual whereabouts_book& whereabouts() noexcept = 0;

protected:
  link_host(caf::actor_system& system, type_registry& types, const family_set& families, node_options options,
            std::shared_ptr<asio::io_context> io)
      : system_(system),
        types_(types),
        families_(families),
        options_(std::move(options)),
        io_(std::move(io)),
        encodings_(std::make_shared<encoding_cache>(*io_)),
        rings_(options_.ring_memory_bytes),
        answers_(std::make_shared<answer_memory>(types_, answer_memory::bounds{.bytes = options_.answer_memory_bytes,
                                                                               .age = *options_.answer_memory_time})) {}

  caf::actor_system& system_;
  type_registry& types_;
  const family_set& families_;
  const node_options options_;                 // Without the publications.
  const std::shared_ptr<asio::io_context> io_; // Outlives the timers of the members below.
  const std::shared_ptr<encoding_cache> encodings_;
  ring_budget rings_;
  tape_recorders recorders_;
  remote_recordings observers_;
  lost_links lost_;
  const std::shared_ptr<answer_memory> answers_;
  const std::shared_ptr<span_recorder> spans_ = std::make_shared<span_recorder>();
  const node_key key_; // Tells this node from others that claim its id.
  limited_log lines_{"this node's links", 50};
  // Set before the first link exists.
  std::optional<store::object_store> store_;
  std::shared_ptr<const object_environment> objects_;
  std::shared_ptr<handle_counter> exchange_;
};

} // namespace troupe::internal

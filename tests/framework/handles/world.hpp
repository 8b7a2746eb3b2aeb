// Hosts, nodes and links of the simulator, and the oracle. The oracle tracks what the applications hold independently
// of the protocol's own tables, and checks ledgers and stores against it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <troupe/framework/internal/objects/exchange_core.hpp>

#include "liar_end.hpp"
#include "shared_end.hpp"
#include "store_model.hpp"

namespace troupe::simulation {

namespace handles = internal::handles;

/// Ways to break the protocol on purpose, to show that the simulator notices.
enum class sabotage : std::uint8_t {
  none,
  forget_count,      // Some releases give one too few as their count.
  release_twice,     // Some releases are sent twice.
  skip_adoption,     // Adopting removes the flight without taking a hold.
  ignore_generation, // The store reuses rows under the same id.
  drop_hold_early,   // The sender drops its hold on an object sent to another host.
  throw_in_puts,     // Puts throw what the ledger must not throw.
  abort_in_puts,     // Puts abort, like a failed assertion.
};

/// A check of the run failed. Thrown by the checks.
struct broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using node_index = std::size_t;

/// Thrown if a process is killed during a call of the store.
struct died {};

using link_index = std::size_t;
/// One bit for each node through which a reference came.
using node_mask = std::uint64_t;

/// One reference that an application holds.
struct held {
  handles::reference what;                 // Empty if it came over a link that shares the store; ...
  std::shared_ptr<const came_over> shared; // ... then this holds the object.
  content_number truth = 0;                // The content that get() must return. 0: only a liar knows.
  node_mask path = 0;
  bool was_here = false;
  bool may_be_lost = false;     // The store could not be asked when it arrived.
  bool may_stay_behind = false; // Its sender was itself behind another node.
  node_index sender = 0;
};

[[nodiscard]] inline held held_of(handles::reference what, content_number truth, node_mask path, bool was_here) {
  held made{};
  made.what = what;
  made.truth = truth;
  made.path = path;
  made.was_here = was_here;
  return made;
}

struct wait {
  content_number truth = 0;
  node_mask path = 0;
  handles::time_point deadline{};
  bool may_be_lost = false;
  bool is_cancelled = false;
};

class world;

/// A node's view of its host's store. Counts holds per process, like store/internal/attachment/local_counts.hpp.
class process_objects final : public handles::local_objects {
public:
  process_objects(world& in, node_index self) : world_(in), self_(self) {}

  void hold(const object_id& place) override;
  void drop(const object_id& place) override;
  [[nodiscard]] std::uint64_t size_of(const object_id& place) const override;
  [[nodiscard]] std::vector<object_id> captured_by(const object_id& place) const override;
  [[nodiscard]] handles::home_name home_of(const object_id& place) override;
  [[nodiscard]] bool hold_at_home(const handles::home_name& which, std::uint64_t size_bytes) override;
  [[nodiscard]] bool hand_over(const object_id& place, handles::link_number link) override;
  void take_back(const object_id& place, handles::link_number link);
  [[nodiscard]] adoption adopt(const object_id& place, handles::link_number link) override;
  void abandon(handles::link_number link);

  /// Takes over a hold that the store has already given.
  void took_over(const object_id& place) { ++counts_[place]; }
  [[nodiscard]] bool empty() const { return counts_.empty(); }
  [[nodiscard]] bool holds(const object_id& place) const { return counts_.contains(place); }

private:
  void step();

  world& world_;
  node_index self_;
  std::map<object_id, std::uint64_t> counts_;
};

// Actions that a node's core requests.
struct to_write {
  handles::link_number link = 0;
};
struct to_dial {
  handles::node_name node;
};
struct to_answer {
  internal::fetch_answer what;
};
struct to_make {
  handles::room_id room = 0;
  std::uint64_t size_bytes = 0;
  std::optional<handles::original> of;
};
struct to_seal {
  handles::room_id room = 0;
  handles::reference own; // Set for an object of this node's, whose room is yet to be made.
  std::vector<object_id> captured;
};
struct to_drop {
  handles::room_id room = 0;
};
struct to_forget {
  handles::reference own;
};
using wish = std::variant<to_write, to_dial, to_answer, to_make, to_seal, to_drop, to_forget>;

/// Records the requested actions in order.
struct wishes final : internal::core_errands,
                      internal::room_maker,
                      internal::object_finisher,
                      internal::caller_answers {
  [[nodiscard]] internal::exchange_surroundings all() { return {*this, *this, *this, *this}; }

  void write_soon(internal::core_turn, handles::link_number link) override { todo.emplace_back(to_write{link}); }
  void wake_at(internal::core_turn, handles::time_point when) override { wakes_at = when; }
  void dial(internal::core_turn, const handles::node_name& who) override { todo.emplace_back(to_dial{who}); }
  void answer(internal::core_turn, internal::fetch_answer what) override {
    todo.emplace_back(to_answer{std::move(what)});
  }
  void make(internal::core_turn, handles::room_id which, std::uint64_t size_bytes,
            const std::optional<handles::original>& of) override {
    todo.emplace_back(to_make{which, size_bytes, of});
  }
  void seal(internal::core_turn, handles::room_id which, std::vector<object_id> captured) override {
    todo.emplace_back(to_seal{which, {}, std::move(captured)});
  }
  void finish(internal::core_turn, handles::room_id which, handles::reference own,
              std::vector<object_id> captured) override {
    todo.emplace_back(to_seal{which, own, std::move(captured)});
  }
  void drop(internal::core_turn, handles::room_id which) override { todo.emplace_back(to_drop{which}); }
  void room_is_left(internal::core_turn) override {} // Each step checks the waiting rooms.
  void forget(internal::core_turn, handles::reference own) override { todo.emplace_back(to_forget{own}); }

  std::deque<wish> todo;
  handles::time_point wakes_at = handles::never;
};

/// A room for a replica that is being made.
struct room {
  std::uint64_t size_bytes = 0;
  std::optional<handles::original> of;
  handles::time_point asked_at{};
  bool is_left = false; // Another node of the host makes the replica.
  bool made = false;
  std::uint64_t written_bytes = 0;
  content_number content = 0; // The content of the chunks so far; mixed chunks give garbage.
  std::optional<std::vector<object_id>> sealing;
};

/// The bytes of an object that waits for its captured objects.
struct unfinished_bytes {
  content_number content = 0;
  std::uint64_t size_bytes = 0;
};

enum class condition : std::uint8_t { running, frozen, dead };

/// An application message that is encoded but not written yet.
struct waiting_message {
  std::size_t over = 0;      // A link_index.
  std::vector<held> counted; // References that the ledger will count, one for each.
  std::vector<held> stored;  // Objects in the store that both ends share, which `flights` hands over.
  flight_claims flights;
  bool is_admitted = false; // Waits for room at the link, which gives it up if the link ends.
};

/// An application message.
struct parcel {
  std::vector<handles::handle_descriptor> handles;
  std::vector<held> content;             // The reference behind each handle.
  bool kept = true;                      // False if the receiving actor is gone.
  std::vector<object_id> stored = {};    // Handed over in the store that both ends share.
  std::vector<held> stored_content = {}; // The reference behind each of `stored`.
};

struct node {
  handles::node_name name;
  std::size_t host = 0;
  process_number process = 0;
  condition is = condition::running;
  bool liar = false;
  std::unique_ptr<process_objects> objects;
  std::unique_ptr<wishes> wanted;
  std::unique_ptr<internal::exchange_core> core;
  const handles::ledger* ledger = nullptr;                            // The core's ledger.
  std::set<handles::link_number> unwritten;                           // Links whose messages wait in the core.
  std::map<handles::link_number, handles::served_chunk> being_pinned; // Chunks taken from the core but not written yet.
  std::vector<held> application;
  std::vector<waiting_message> waiting;
  std::map<handles::waiter_id, wait> waits;
  std::map<handles::room_id, room> rooms;
  std::set<handles::room_id> due; // Rooms to make or to seal.
  std::map<handles::reference, unfinished_bytes> unfinished;
  std::multiset<handles::original> making; // The originals whose replicas are being made in rooms.
  std::vector<handles::node_name> wanted_links;
  bool is_called = false;               // A call of its core is in progress.
  std::optional<unsigned> last_actions; // The number of actions until it dies, possibly within an event.
};

using packet_content = std::variant<handles::message, handles::pull_chunk, parcel, shared_release>;

struct packet {
  std::uint64_t number = 0;
  packet_content what;
  content_number content = 0; // Set for chunks.

  [[nodiscard]] bool is_chunk() const;
};

struct link_model {
  handles::link_number number = 0;
  node_index ends[2] = {};
  bool shares_store = false;
  bool is_cut = false;
  bool up[2] = {true, true};
  std::shared_ptr<shared_end> shared[2];
  bool has_ledger[2] = {false, false};    // The end's ledger knows that the link is up.
  std::deque<packet> queues[2];           // [i]: packets on their way to ends[i].
  liar_end liars[2];                      // Used by ends that lie.
  handles::time_point grace_ends[2] = {}; // Valid if up is false.
  handles::request_number asked[2] = {};  // The highest request number that arrived at ends[i].
};

/// A link that was cut. It excuses the loss of references that came through both its ends. If both ends linked again
/// within the grace period, nothing is excused: everything must have been reclaimed.
struct fault {
  link_index link = 0;
  node_mask nodes = 0;
  std::uint64_t step = 0;
  enum class course : std::uint8_t { open, mended, lasting } is = course::open;
};

/// What is allowed in a world. Random runs reach small limits, but not the usual ones.
struct world_options {
  sabotage how = sabotage::none;
  bool small_limits = false;
  bool writes_late = false; // Messages stay in the core for a while before they are written.
};

class world {
public:
  explicit world(world_options options = {}) : options_(options) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world();

  static constexpr auto grace = std::chrono::seconds(30);
  static constexpr auto others_patience = std::chrono::seconds(20); // For a node of the host that pulls the same.
  static constexpr auto chunk_bytes = std::uint64_t{4};

  // -- building
  std::size_t add_host();
  node_index add_node(std::size_t host, bool liar = false, std::uint64_t number = 0);
  /// Starts the same node again as a new process.
  node_index restart(node_index dead);
  /// Shares the store if both nodes are on one host, unless `may_share` is false.
  link_index connect(node_index dialer, node_index acceptor, bool may_share = true);
  /// Tells only the dialer. The acceptor learns of the link at the latest when a packet arrives there or the link ends.
  link_index dial(node_index dialer, node_index acceptor, bool may_share = true);
  bool bring_up(link_index over, int end);

  // -- actions of applications
  /// Puts an object. If captured objects have not arrived yet, the object stays unfinished until they have.
  held put(node_index at, std::uint64_t size_bytes, const std::vector<held>& captured = {});
  /// Returns false if the message could not be sent.
  bool send(node_index from, link_index over, const std::vector<held>& what, bool kept = true);
  /// send() in steps: packs a message, which then waits, leaves, or is given up.
  bool pack(node_index from, link_index over, const std::vector<held>& what);
  bool leave(node_index from, std::size_t which, bool kept = true);
  void admit(node_index from, std::size_t which);
  void give_up(node_index from, std::size_t which);
  void copy(node_index at, std::size_t which);
  void drop(node_index at, std::size_t which);
  void drop_all(node_index at);
  handles::waiter_id fetch(node_index at, std::size_t which, std::chrono::nanoseconds limit);
  void cancel(node_index at, handles::waiter_id which);

  [[nodiscard]] std::optional<object_id> place_of(node_index at, const held& what) const;
  [[nodiscard]] bool is_lost(node_index at, const held& what) const;
  [[nodiscard]] bool is_behind(node_index at, const held& what) const;

  // -- events of the network, of hosts and of time
  bool deliver(link_index over, int end, bool chunks_first = false);
  /// Writes the messages that the node has for the link, then one chunk. Returns false if there was nothing to write.
  bool send_chunk(link_index over, int end);
  bool finish_room(node_index at, bool well = true);
  /// Returns true if another node of the host makes the same replica; the room then stays unchanged.
  [[nodiscard]] bool waits_for_others(node_index at, handles::room_id which) const;
  [[nodiscard]] bool is_ready(node_index at, handles::room_id which);
  void cut(link_index over);
  void notice(link_index over, int end);
  void kill(node_index which);
  void freeze(node_index which);
  void thaw(node_index which);
  void reap(std::size_t host);
  void pass(std::chrono::nanoseconds how_long);
  void tick(node_index at);
  /// Calls the core about rooms or links that have ended, or brings up a link under a number in use. The core must
  /// refuse without any effect. `what` and `which` choose the call.
  void call_late(node_index at, std::size_t what, std::size_t which);
  /// Puts any packet on a link in a liar's name.
  void forge(link_index over, int from_end, packet what);
  /// Called by shared_end.
  void say_release(link_index over, int from_end, shared_release what);

  // -- checks
  void check(node_index at);
  void check_all();
  /// Checks that everything that can be adopted has been. Requires: run_until_quiet() was called, nothing failed and no
  /// time passed.
  void check_adopted();
  /// Delivers everything, without further faults, until nothing moves.
  void run_until_quiet();
  /// Lets time `each` pass, ticks all nodes and runs until quiet, `times` times.
  void pass_and_tick(int times, std::chrono::nanoseconds each);
  /// Runs until quiet, then reads every reference.
  void read_everything();
  /// Lets all applications drop everything, kills liars, thaws frozen nodes and lets grace periods pass. Nothing may be
  /// left anywhere.
  void wind_up();

  /// Returns whether a failure excuses the loss of a reference that came along `path`: a lasting one, or with `for_now`
  /// one that may still be mended.
  [[nodiscard]] bool excused(content_number truth, node_mask path, bool for_now = false) const;
  [[nodiscard]] int end_of(link_index over, node_index at) const { return links[over].ends[0] == at ? 0 : 1; }
  [[nodiscard]] std::optional<link_index> link_between(node_index one, node_index other) const;
  [[nodiscard]] store_model& store_of(node_index at) { return stores[nodes[at].host]; }
  [[nodiscard]] static link_index index_of(handles::link_number number) { return number - 1; }
  [[nodiscard]] bool active(node_index at) const { return nodes[at].is == condition::running; }

  /// Ledger options for nodes added from now on; the world sets their names and tokens.
  handles::ledger_options limits;
  /// Where to write each step as text, or null.
  std::ostream* story = nullptr;

  std::deque<store_model> stores;
  std::deque<node> nodes;
  std::deque<link_model> links;
  std::uint64_t step = 0;
  handles::time_point now{};
  bool hand_over_fails = false;
  std::optional<std::uint64_t> hand_overs_left; // Hand-overs that still succeed.
  bool adopting_fails = false;
  bool homes_fail = false; // The store finds no object by its home name.
  std::map<handles::waiter_id, handles::fetch_error> answers;
  /// Contents that liars were given or made themselves.
  std::set<content_number> known_to_liars;
  std::vector<object_id> names_seen; // Written by anyone: liars may guess well.
  std::vector<std::uint64_t> tokens_seen;
  std::map<std::uint64_t, node_index> marks_seen; // Each with the node that set it.
  std::vector<std::uint64_t> marks_of_liars;      // Marks that were sent to liars.
  std::vector<handles::home_name> homes_of_liars; // Home names that were sent to liars.
  std::uint64_t adoptions = 0;                    // ADOPTED messages that arrived.
  std::uint64_t reclaims = 0;
  std::uint64_t handed_over = 0; // Objects handed over by links and adopted.
  std::uint64_t came_home = 0;   // Handles whose object was found where it was put.
  std::uint64_t came_round = 0;  // Handles that came back with the reader's own mark.
  std::uint64_t losses = 0;
  std::uint64_t finds = 0; // Replicas found that another node had made.
  std::uint64_t put_unfinished = 0;
  std::uint64_t finished = 0; // Unfinished objects that were finished.

private:
  friend class process_objects;

  struct original {
    std::uint64_t size_bytes = 0;
    std::vector<content_number> captured;
    std::uint64_t born = 0;
    handles::time_point born_at{};
  };

  template <class... Words>
  void tell(const Words&... words) {
    if (story != nullptr)
      (*story << ... << words) << '\n';
  }
  bool pump(node_index at); // Returns whether there was anything to do.
  void act(node_index at, const to_write& what);
  void act(node_index at, const to_dial& what);
  void act(node_index at, const to_answer& what);
  void act(node_index at, const to_make& what);
  void act(node_index at, const to_seal& what);
  void act(node_index at, const to_drop& what);
  void act(node_index at, const to_forget& what);
  /// Calls the core. Returns false if the node dies during the call.
  template <class Call>
  bool tell_core(node_index at, Call call) {
    nodes[at].is_called = true;
    try {
      call(*nodes[at].core);
      nodes[at].is_called = false;
      return true;
    } catch (const died&) {
      nodes[at].is_called = false;
      kill(at);
      return false;
    }
  }
  [[nodiscard]] bool is_last_step(node_index at);
  bool write(node_index at, link_index over);
  void write_message(node_index at, link_index over, handles::message what);
  void end_link(node_index at, link_index over, const node_error& why);
  void end_if_broken(node_index at, link_index over);
  void send_bytes(node_index at, link_index over, const handles::served_chunk& what);
  void post(link_index over, int to_end, packet what);
  [[nodiscard]] handles::reference reference_of(node_index at, const held& what);
  void arrive(node_index at, packet what, handles::link_number over);
  void arrive(node_index at, const parcel& what, link_index over);
  void arrive_chunk(node_index at, const packet& what, handles::link_number over);
  void arrive_stored(node_index at, const parcel& what, link_index over);
  void violated(node_index at, link_index over, const std::string& text);
  void end_shared(link_index over, int end);
  void write_chunk(node_index at, handles::room_id into, const handles::pull_chunk& what, content_number content);
  void tell_liars(content_number what);
  void tell_liars_of_host(std::size_t host, content_number what);
  void check_content(node_index at, const object_id& place, content_number truth, node_mask path, bool counts_captured);
  room take_room(node_index at, handles::room_id which);
  void make_room(node_index at, handles::room_id which);
  void seal_room(node_index at, handles::room_id which);
  void check_told();
  void check_graph(node_index at, const object_id& place, content_number truth, node_mask path);
  void sees_end(link_index over, int end);
  void mend_faults(link_index over);
  void call_over_link(node_index at, std::size_t what, std::size_t which);
  void check_number(link_index over, node_index at, const handles::message& what);
  void end_graces(node_index at);
  void check_error(node_index at, const handles::fetch_error& error, const wait& what);
  struct graph {
    std::uint64_t imports = 0;
    handles::time_point oldest{};
  };
  [[nodiscard]] graph graph_of(content_number what) const;
  [[nodiscard]] bool by_liar(node_mask path) const { return (path & liars_) != 0; }
  [[nodiscard]] bool release_is_sabotaged();

  world_options options_;
  std::vector<original> truths_{1};
  std::vector<fault> faults_;
  node_mask liars_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t releases_ = 0;
  std::uint64_t rooms_failed_ = 0;
  bool store_was_busy_ = false;
  std::uint64_t fetch_imports_max_ = ~std::uint64_t{0};
};

} // namespace troupe::simulation

// Hosts, nodes and links of the simulator, and the oracle: what the applications hold is known here independently of
// the protocol's own tables, and is checked against what the ledgers and stores say.
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

/// How the protocol is broken on purpose, to show that the simulator notices.
enum class sabotage : std::uint8_t {
  none,
  forget_count,      // Some releases say one too few.
  release_twice,     // Some releases are sent twice.
  skip_adoption,     // What was in flight is taken out without a hold.
  ignore_generation, // Rows of the store are used again under the same id.
  drop_hold_early,   // What was sent to another host is not held for it.
  throw_in_puts,     // As if the ledger had thrown what it must not.
  abort_in_puts,     // As if it had an assertion that does not hold.
};

/// What a run has found. Thrown by the checks.
struct broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using node_index = std::size_t;

/// A process was killed at the very moment at which it called the store.
struct died {};

using link_index = std::size_t;
/// A bit per node: those by which a reference came.
using node_mask = std::uint64_t;

/// One reference that an application holds.
struct held {
  handles::reference what;                 // Refers to nothing where it came over a link that shares the store, ...
  std::shared_ptr<const came_over> shared; // ... which this says.
  content_number truth = 0;                // What get() must give. 0: only a liar knows.
  node_mask path = 0;
  bool was_here = false;
  bool may_be_lost = false;     // The store could not be asked when it came.
  bool may_stay_behind = false; // Who sent it was behind another itself.
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

/// A node's view of its host's store: counts per process, as store/internal/attachment/local_counts.hpp has them.
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

  /// A hold that the store has given already.
  void took_over(const object_id& place) { ++counts_[place]; }
  [[nodiscard]] bool empty() const { return counts_.empty(); }
  [[nodiscard]] bool holds(const object_id& place) const { return counts_.contains(place); }

private:
  void step();

  world& world_;
  node_index self_;
  std::map<object_id, std::uint64_t> counts_;
};

// What the core of a node wants done.
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
  handles::reference own; // Of this node's: then it is still to be made.
  std::vector<object_id> captured;
};
struct to_drop {
  handles::room_id room = 0;
};
struct to_forget {
  handles::reference own;
};
using wish = std::variant<to_write, to_dial, to_answer, to_make, to_seal, to_drop, to_forget>;

/// Notes what is to be done, in order.
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
  void room_is_left(internal::core_turn) override {} // Each step looks at rooms that wait.
  void forget(internal::core_turn, handles::reference own) override { todo.emplace_back(to_forget{own}); }

  std::deque<wish> todo;
  handles::time_point wakes_at = handles::never;
};

/// A replica being made.
struct room {
  std::uint64_t size_bytes = 0;
  std::optional<handles::original> of;
  handles::time_point asked_at{};
  bool is_left = false; // To another node of the host.
  bool made = false;
  std::uint64_t written_bytes = 0;
  content_number content = 0; // Of the chunks so far; mixed ones make garbage.
  std::optional<std::vector<object_id>> sealing;
};

/// The bytes of an object that waits for what it captures.
struct unfinished_bytes {
  content_number content = 0;
  std::uint64_t size_bytes = 0;
};

enum class condition : std::uint8_t { running, frozen, dead };

/// A message of the application that is encoded and not written yet.
struct waiting_message {
  std::size_t over = 0;      // A link_index.
  std::vector<held> counted; // Those that the ledger will count, with a reference each.
  std::vector<held> stored;  // Those that are handed over in the store of both ends: by these.
  flight_claims flights;
  bool is_admitted = false; // It waits for room at the link, which gives it up with its end.
};

/// A message of the application.
struct parcel {
  std::vector<handles::handle_descriptor> handles;
  std::vector<held> content;             // What they are.
  bool kept = true;                      // Else for an actor that is gone.
  std::vector<object_id> stored = {};    // Handed over in the store of both ends, and ...
  std::vector<held> stored_content = {}; // ... what that is.
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
  const handles::ledger* ledger = nullptr;  // The core's.
  std::set<handles::link_number> unwritten; // Links for which the core has something, where that waits.
  std::map<handles::link_number, handles::served_chunk> being_pinned; // Taken, and not written yet.
  std::vector<held> application;
  std::vector<waiting_message> waiting;
  std::map<handles::waiter_id, wait> waits;
  std::map<handles::room_id, room> rooms;
  std::set<handles::room_id> due; // To be made, or sealed.
  std::map<handles::reference, unfinished_bytes> unfinished;
  std::multiset<handles::original> making; // What the rooms that are made are to be replicas of.
  std::vector<handles::node_name> wanted_links;
  bool is_called = false;               // Its core is.
  std::optional<unsigned> last_actions; // So many are still done: then it dies, in the midst of an event's.
};

using packet_content = std::variant<handles::message, handles::pull_chunk, parcel, shared_release>;

struct packet {
  std::uint64_t number = 0;
  packet_content what;
  content_number content = 0; // Of a chunk.

  [[nodiscard]] bool is_chunk() const;
};

struct link_model {
  handles::link_number number = 0;
  node_index ends[2] = {};
  bool shares_store = false;
  bool is_cut = false;
  bool up[2] = {true, true};
  std::shared_ptr<shared_end> shared[2];
  bool has_ledger[2] = {false, false};    // Whether the end's ledger has been told that it is up.
  std::deque<packet> queues[2];           // [i]: on the way to ends[i].
  liar_end liars[2];                      // For ends that lie.
  handles::time_point grace_ends[2] = {}; // Where up is false.
  handles::request_number asked[2] = {};  // The highest that arrived at ends[i].
};

/// A link that was cut. It excuses the loss of what came by way of both its ends, unless they got together again within
/// the grace: then everything must have been reclaimed.
struct fault {
  link_index link = 0;
  node_mask nodes = 0;
  std::uint64_t step = 0;
  enum class course : std::uint8_t { open, mended, lasting } is = course::open;
};

/// What is allowed in a world. Small limits are met by random runs, the usual ones are not.
struct world_options {
  sabotage how = sabotage::none;
  bool small_limits = false;
  bool writes_late = false; // What is to be written stays with the core for a while.
};

class world {
public:
  explicit world(world_options options = {}) : options_(options) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world();

  static constexpr auto grace = std::chrono::seconds(30);
  static constexpr auto others_patience = std::chrono::seconds(20); // For who pulls the same on the same host.
  static constexpr auto chunk_bytes = std::uint64_t{4};

  // -- building
  std::size_t add_host();
  node_index add_node(std::size_t host, bool liar = false, std::uint64_t number = 0);
  /// The same node again, as a new process.
  node_index restart(node_index dead);
  /// Shares the store where that is possible, unless `may_share` says otherwise.
  link_index connect(node_index dialer, node_index acceptor, bool may_share = true);
  /// Only the dialer knows yet. The acceptor does at the latest when something arrives there, or the link ends.
  link_index dial(node_index dialer, node_index acceptor, bool may_share = true);
  bool bring_up(link_index over, int end);

  // -- what applications do
  /// What is captured and not here yet is awaited.
  held put(node_index at, std::uint64_t size_bytes, const std::vector<held>& captured = {});
  /// False when the message could not be sent.
  bool send(node_index from, link_index over, const std::vector<held>& what, bool kept = true);
  /// The same in steps: a message that is encoded waits, leaves, or is given up.
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

  // -- what the network, the hosts and time do
  bool deliver(link_index over, int end, bool chunks_first = false);
  /// What the node has for the link, and then a chunk; false when there was nothing.
  bool send_chunk(link_index over, int end);
  bool finish_room(node_index at, bool well = true);
  /// The room stays as it is where another node of the host makes the same.
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
  /// Calls the ledger about what has ended, or gives a link the number of another: it must refuse, and nothing may come
  /// of it. Both numbers choose.
  void call_late(node_index at, std::size_t what, std::size_t which);
  /// Puts any packet on a link in a liar's name.
  void forge(link_index over, int from_end, packet what);
  /// For shared_end.
  void say_release(link_index over, int from_end, shared_release what);

  // -- checks
  void check(node_index at);
  void check_all();
  /// After run_until_quiet(), where nothing failed and no time passed: whatever can be adopted has been.
  void check_adopted();
  /// No more faults: delivers everything until nothing moves.
  void run_until_quiet();
  /// So many times: that time passes, and all that it brings is done.
  void pass_and_tick(int times, std::chrono::nanoseconds each);
  /// run_until_quiet(), then every reference is read.
  void read_everything();
  /// All applications let go, liars and frozen nodes die, graces pass: nothing may be left anywhere.
  void wind_up();

  /// Whether something failed for good, or at least for now, on the way by which a reference came.
  [[nodiscard]] bool excused(content_number truth, node_mask path, bool for_now = false) const;
  [[nodiscard]] int end_of(link_index over, node_index at) const { return links[over].ends[0] == at ? 0 : 1; }
  [[nodiscard]] std::optional<link_index> link_between(node_index one, node_index other) const;
  [[nodiscard]] store_model& store_of(node_index at) { return stores[nodes[at].host]; }
  [[nodiscard]] static link_index index_of(handles::link_number number) { return number - 1; }
  [[nodiscard]] bool active(node_index at) const { return nodes[at].is == condition::running; }

  /// What the ledgers of nodes that are added from now on begin with; their names and tokens are the world's.
  handles::ledger_options limits;
  /// Where the run is told in words; null: nowhere.
  std::ostream* story = nullptr;

  std::deque<store_model> stores;
  std::deque<node> nodes;
  std::deque<link_model> links;
  std::uint64_t step = 0;
  handles::time_point now{};
  bool hand_over_fails = false;
  std::optional<std::uint64_t> hand_overs_left; // Then they fail.
  bool adopting_fails = false;
  bool homes_fail = false; // The store finds nothing that was put there.
  std::map<handles::waiter_id, handles::fetch_error> answers;
  /// What liars were given, or made themselves.
  std::set<content_number> known_to_liars;
  std::vector<object_id> names_seen; // By anybody: liars may guess well.
  std::vector<std::uint64_t> tokens_seen;
  std::map<std::uint64_t, node_index> marks_seen; // And who left them.
  std::vector<std::uint64_t> marks_of_liars;      // Those of them that liars were sent.
  std::vector<handles::home_name> homes_of_liars; // Those that liars were sent.
  std::uint64_t adoptions = 0;                    // ADOPTED messages that arrived.
  std::uint64_t reclaims = 0;
  std::uint64_t handed_over = 0; // By links, and adopted.
  std::uint64_t came_home = 0;   // Handles of what was found where it was put.
  std::uint64_t came_round = 0;  // Handles that brought their reader's own mark.
  std::uint64_t losses = 0;
  std::uint64_t finds = 0; // Replicas that another node had made.
  std::uint64_t put_unfinished = 0;
  std::uint64_t finished = 0; // Of those.

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
  bool pump(node_index at); // Whether there was anything to do.
  void act(node_index at, const to_write& what);
  void act(node_index at, const to_dial& what);
  void act(node_index at, const to_answer& what);
  void act(node_index at, const to_make& what);
  void act(node_index at, const to_seal& what);
  void act(node_index at, const to_drop& what);
  void act(node_index at, const to_forget& what);
  /// Calls the core. False where the node dies of it, in the midst of the call.
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

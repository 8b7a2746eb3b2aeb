// The summary of the objects in memory and the reasons why they are kept: of one node, of two nodes together, and for a
// peer.
#include <troupe/framework/memory_summary.hpp>

#include <cstdlib>
#include <future>

#include <troupe/framework/internal/caf_port/actors/inspector.hpp>
#include <troupe/framework/node_report.hpp>
#include <troupe/store/hold_reason.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using doubles = array<double>;
using doubles_ref = object_ref<doubles>;

const memory_object* row_of(const memory_summary& summary, const std::string& object) {
  const auto found = std::ranges::find(summary.objects, object, &memory_object::object);
  return found != summary.objects.end() ? &*found : nullptr;
}

std::optional<memory_holder> holder_of(const memory_summary& summary, const std::string& object, memory_reason reason) {
  const auto* row = row_of(summary, object);
  if (row == nullptr)
    return std::nullopt;
  const auto found = std::ranges::find(row->holders, reason, &memory_holder::reason);
  return found != row->holders.end() ? std::optional{*found} : std::nullopt;
}

std::uint64_t count_of(const memory_summary& summary, const std::string& object, memory_reason reason) {
  const auto holder = holder_of(summary, object, reason);
  return holder ? holder->count : 0;
}

std::string name_of(const doubles_ref& ref) {
  return to_string(*internal::state_of(ref)->source->place());
}

const auto self = static_cast<std::uint32_t>(::getpid());

/// Keeps the references it gets, once it is opened.
struct shelf {
  std::promise<void> opens;
  std::shared_future<void> is_open{opens.get_future()};
  std::mutex mutex;
  std::vector<doubles_ref> refs;
};

caf::behavior keeper(caf::event_based_actor*, std::shared_ptr<shelf> kept) {
  return {[kept](const doubles_ref& ref) {
    kept->is_open.wait_for(10s);
    const std::lock_guard guard{kept->mutex};
    kept->refs.push_back(ref);
    return static_cast<int>(kept->refs.size());
  }};
}

std::vector<std::string> own_local_query_addresses() {
  std::vector<std::string> mine;
  const auto known = local_nodes().value();
  for (const auto& each : known)
    if (each.process == self)
      mine.push_back(each.address);
  return mine;
}

class remembered : public two_nodes {
protected:
  ~remembered() override { open_shelf(); }

  node& home() { return *near().home; }
  memory_summary at_near() { return near().home->memory_summary().value(); }
  memory_summary at_far() { return far().home->memory_summary().value(); }

  doubles_ref put(std::size_t count = 10'000) { return home().put(doubles(std::vector<double>(count, 1.5))).value(); }

  /// Gives each node a store of its own, so that the two nodes stand for two hosts.
  void separate() {
    near_options_.store.edit()->name = unique_name("near-host");
    far_options_.store.edit()->name = unique_name("far-host");
  }

  caf::actor keeper_at_far() {
    publish("keeper", far().system.spawn<caf::detached>(keeper, kept_));
    return find("keeper");
  }
  void open_shelf() {
    if (!std::exchange(shelf_is_open_, true))
      kept_->opens.set_value();
  }

  std::shared_ptr<shelf> kept_ = std::make_shared<shelf>();
  bool shelf_is_open_ = false;
};

TEST_F(remembered, handles_and_views_of_this_process_are_counted) {
  auto ref = put();
  auto name = name_of(ref);
  auto summary = at_near();
  const auto* row = row_of(summary, name);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->size_bytes, 80'000u);
  EXPECT_EQ(row->store, (*near_options_.store)->name);
  EXPECT_EQ(row->state, "sealed");
  EXPECT_EQ(row->creator, self);
  EXPECT_GE(row->age_ms, 0);
  EXPECT_EQ(count_of(summary, name, memory_reason::handle), 1u);
  EXPECT_FALSE(holder_of(summary, name, memory_reason::pinned_view));
  {
    const auto view = ref.get().value();
    summary = at_near();
    EXPECT_EQ(count_of(summary, name, memory_reason::pinned_view), 1u);
    EXPECT_EQ(holder_of(summary, name, memory_reason::pinned_view)->process, self);
  }
  EXPECT_EQ(count_of(at_near(), name, memory_reason::pinned_view), 0u);
  ref = {};
  EXPECT_EQ(row_of(at_near(), name), nullptr);
  ASSERT_EQ(at_near().processes.size(), 1u);
  EXPECT_EQ(at_near().processes[0].node, "near");
}

TEST_F(remembered, call_sites_are_those_that_put) {
  ::setenv("TROUPE_RECORD_CALL_SITES", "1", 1);
  near();
  ::unsetenv("TROUPE_RECORD_CALL_SITES");
  const auto ref = put();
  const auto summary = at_near();
  EXPECT_NE(row_of(summary, name_of(ref))->call_site.find("memory_summary.test.cpp:"), std::string::npos)
      << row_of(summary, name_of(ref))->call_site;
}

TEST_F(remembered, what_is_written_and_what_is_captured_is_said) {
  auto build = home().make_array<double>(1000).value();
  auto inner = put();
  const auto name = name_of(inner);
  near_types_ = nullptr;
  near().types.add<std::vector<doubles_ref>>("test.refs");
  const auto outer = home().put(std::vector{inner}).value();
  inner = {};
  const auto summary = at_near();
  ASSERT_EQ(summary.objects.size(), 3u);
  EXPECT_EQ(holder_of(summary, name, memory_reason::captured)->object,
            to_string(*internal::state_of(outer)->source->place()));
  EXPECT_FALSE(holder_of(summary, name, memory_reason::handle));
  const auto written = std::ranges::find(summary.objects, "writing", &memory_object::state);
  ASSERT_NE(written, summary.objects.end());
  EXPECT_EQ(written->holders.at(0).reason, memory_reason::being_written);
}

TEST_F(remembered, an_exported_reference_is_shown_at_both_ends_and_as_one) {
  separate();
  open_shelf();
  connect();
  const auto to = keeper_at_far();
  const auto ref = put();
  const auto name = name_of(ref);
  ASSERT_TRUE(ask<int>(near().system, to, ref));
  ASSERT_TRUE(ask<int>(near().system, to, ref));
  const auto exported = holder_of(at_near(), name, memory_reason::exported);
  ASSERT_TRUE(exported);
  EXPECT_EQ(exported->count, 2u);
  EXPECT_EQ(exported->link, link_->number());
  EXPECT_EQ(exported->peer, "far");
  EXPECT_GE(exported->age_ms, 0);
  const auto there = at_far();
  ASSERT_NE(row_of(there, name), nullptr);
  EXPECT_EQ(row_of(there, name)->state, "remote");
  EXPECT_EQ(row_of(there, name)->size_bytes, 80'000u);
  const auto kept = holder_of(there, name, memory_reason::handle);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->count, 2u);
  EXPECT_EQ(kept->peer, "near");
  EXPECT_TRUE(eventually([&] { return !holder_of(at_far(), name, memory_reason::pending_message); }));
  const auto both = combined({at_near(), at_far()});
  ASSERT_EQ(both.objects.size(), 1u);
  EXPECT_EQ(both.objects[0].state, "sealed");
  EXPECT_EQ(both.objects[0].store, (*near_options_.store)->name);
  EXPECT_EQ(both.objects[0].holders.size(), 3u); // Near's handle, the export, and far's two.
  EXPECT_EQ(count_of(at_near(), name, memory_reason::handle), 1u);
  EXPECT_EQ(both.processes.size(), 2u);
  kept_->refs.clear();
  EXPECT_TRUE(eventually([&] { return !holder_of(at_near(), name, memory_reason::exported); }));
}

TEST_F(remembered, what_a_peer_of_one_store_was_given_is_exported) {
  open_shelf();
  connect();
  ASSERT_TRUE(link_->shares_store());
  const auto to = keeper_at_far();
  const auto ref = put();
  ASSERT_TRUE(ask<int>(near().system, to, ref));
  const auto exported = holder_of(at_near(), name_of(ref), memory_reason::exported);
  ASSERT_TRUE(exported);
  EXPECT_EQ(exported->count, 1u);
  EXPECT_EQ(exported->peer, "far");
  EXPECT_GE(exported->age_ms, 0);
}

TEST_F(remembered, messages_that_nobody_has_handled_say_so) {
  connect();
  const auto to = keeper_at_far();
  const auto ref = put();
  const auto name = name_of(ref);
  for (int i = 0; i < 3; ++i)
    caf::anon_send(to, ref);
  EXPECT_TRUE(eventually([&] { return count_of(at_far(), name, memory_reason::pending_message) == 3; }));
  const auto pending = holder_of(at_far(), name, memory_reason::pending_message);
  ASSERT_TRUE(pending);
  EXPECT_EQ(pending->peer, "near");
  EXPECT_GE(pending->age_ms, 0);
  open_shelf();
  EXPECT_TRUE(eventually([&] { return count_of(at_far(), name, memory_reason::pending_message) == 0; }));
}

TEST_F(remembered, so_do_those_that_name_what_is_on_another_host_and_frames_in_the_store) {
  separate();
  connect();
  const auto to = keeper_at_far();
  const auto ref = put();
  caf::anon_send(to, ref);
  const auto name = name_of(ref);
  EXPECT_TRUE(eventually([&] { return count_of(at_far(), name, memory_reason::pending_message) == 1; }));
  EXPECT_EQ(row_of(at_far(), name)->state, "remote");
  open_shelf();
  EXPECT_TRUE(eventually([&] { return count_of(at_far(), name, memory_reason::pending_message) == 0; }));
}

TEST_F(remembered, a_frame_that_was_spilled_is_used_by_its_message) {
  connect();
  std::promise<void> done;
  const std::shared_future<void> is_done{done.get_future()};
  publish("reader", far().system.spawn<caf::detached>([is_done](caf::event_based_actor*) -> caf::behavior {
    return {[is_done](const doubles&) { is_done.wait_for(10s); }};
  }));
  caf::anon_send(find("reader"), doubles(std::vector<double>(100'000)));
  EXPECT_TRUE(eventually([&] {
    const auto summary = at_far();
    return summary.objects.size() == 1
           && holder_of(summary, summary.objects[0].object, memory_reason::pending_message).has_value();
  }));
  done.set_value();
  EXPECT_TRUE(eventually([&] { return at_far().objects.empty(); }));
}

TEST_F(remembered, messages_that_wait_for_room_say_so) {
  separate();
  far_options_.accepted_links.actor_window_bytes = 1000;
  connect();
  const auto to = keeper_at_far();
  const auto ref = put();
  const auto name = name_of(ref);
  for (int i = 0; i < 30; ++i)
    caf::anon_send(to, ref);
  EXPECT_TRUE(eventually([&] { return count_of(at_near(), name, memory_reason::queued_message) > 0; }));
  EXPECT_EQ(holder_of(at_near(), name, memory_reason::queued_message)->peer, "far");
  open_shelf();
  EXPECT_TRUE(eventually([&] { return count_of(at_near(), name, memory_reason::queued_message) == 0; }));
}

TEST_F(remembered, what_is_kept_for_a_lost_link_says_why_it_is_lost_and_who_waits_is_shown) {
  separate();
  near_options_.handle_grace = far_options_.handle_grace = 60s;
  open_shelf();
  connect();
  const auto to = keeper_at_far();
  const auto ref = put();
  const auto name = name_of(ref);
  ASSERT_TRUE(ask<int>(near().system, to, ref));
  link_->close();
  EXPECT_TRUE(eventually([&] { return holder_of(at_near(), name, memory_reason::lost_link).has_value(); }));
  EXPECT_EQ(holder_of(at_near(), name, memory_reason::lost_link)->count, 1u);
  EXPECT_NE(holder_of(at_near(), name, memory_reason::lost_link)->where, "");
  EXPECT_TRUE(eventually([&] { return row_of(at_far(), name)->holders.at(0).peer.empty(); }));
  auto waits = std::async(std::launch::async, [&] { return kept_->refs.at(0).get(5s); });
  EXPECT_TRUE(eventually([&] { return holder_of(at_far(), name, memory_reason::fetched).has_value(); }));
  ASSERT_TRUE(near().home->connect(address_));
  EXPECT_TRUE(waits.get());
  EXPECT_TRUE(eventually([&] { return !holder_of(at_near(), name, memory_reason::lost_link); }));
}

TEST_F(remembered, what_left_outside_of_messages_is_shown_with_the_place_that_allowed_it) {
  const auto ref = put();
  {
    allow_out_of_band_handles guard{home()};
    ASSERT_TRUE(serialize(ref, {}, near().types, near().families));
  }
  const auto summary = at_near();
  const auto pinned = holder_of(summary, name_of(ref), memory_reason::out_of_band);
  ASSERT_TRUE(pinned);
  EXPECT_NE(pinned->where.find("memory_summary.test.cpp:"), std::string::npos);
  const auto hints = leak_hints(summary);
  ASSERT_EQ(hints.size(), 1u);
  EXPECT_EQ(hints[0].object, name_of(ref));
  EXPECT_NE(hints[0].text.find("outside of a message"), std::string::npos);
}

// -- the reasons for which an object is held, whose counts add up

/// Returns the store's row of the object, or an empty row if the object is gone.
store::object_row held(const node& by, const std::string& object) {
  const auto known = store::object_store{*by.store()}.summary().value();
  const auto found =
      std::ranges::find_if(known.rows, [&](const store::object_row& each) { return to_string(each.id) == object; });
  return found != known.rows.end() ? *found : store::object_row{};
}

// Goal: each hold of this process is counted for one reason, and all reasons together give the store's count.
// Method: one object is held for every reason at once, except as a builder, since builders have objects of their own.
TEST_F(remembered, every_hold_of_an_object_has_one_reason) {
  using enum store::hold_reason;
  far_options_.accepted_links.actor_window_bytes = 1000;
  connect();
  ASSERT_TRUE(link_->shares_store());
  side elsewhere{{.name = "elsewhere",
                  .listen = {"unix://@" + unique_name("troupe-test")},
                  .store = store::options{.name = unique_name("other-host"), .capacity_bytes = 64_MiB}}};
  const auto shelf_there = std::make_shared<shelf>();
  shelf_there->opens.set_value();
  ASSERT_TRUE(elsewhere.home->publish("keeper", elsewhere.system.spawn<caf::detached>(keeper, shelf_there)));
  auto there = home().connect(elsewhere.home->addresses().front());
  ASSERT_TRUE(there);

  const auto building = home().make_array<double>(1000).value();
  const auto ref = put();
  const auto name = name_of(ref);
  const auto mapped = ref.get().value();
  {
    allow_out_of_band_handles guard{home()};
    ASSERT_TRUE(serialize(ref, {}, near().types, near().families));
  }
  ASSERT_TRUE(ask<int>(near().system, there->find("keeper").value(), ref));
  const auto to = keeper_at_far();
  for (int i = 0; i < 30; ++i)
    caf::anon_send(to, ref);

  store::object_row row;
  const auto is_held_for_all = [&] {
    row = held(home(), name);
    const auto& holds = row.own_holds;
    return holds[reference] > 0 && holds[view] == 1 && holds[unfinished] == 0 && holds[exchange] == 1
           && holds[message] > 0 && holds[exported] == 1 && holds[imported] == 1 && holds[out_of_band] == 1
           && holds.sum() == row.own_handles + row.own_pins;
  };
  EXPECT_TRUE(eventually(is_held_for_all))
      << testing::PrintToString(row.own_holds.each) << ", in all " << row.own_handles << " and " << row.own_pins;
  const auto summary = at_near();
  EXPECT_GE(count_of(summary, name, memory_reason::handle), 1u);
  EXPECT_EQ(count_of(summary, name, memory_reason::pinned_view), 1u);
  EXPECT_EQ(count_of(summary, name, memory_reason::out_of_band), 1u);
  EXPECT_GT(count_of(summary, name, memory_reason::queued_message), 0u);
  const auto written = std::ranges::find(summary.objects, "writing", &memory_object::state);
  ASSERT_NE(written, summary.objects.end());
  const auto unfinished_row = held(home(), written->object);
  EXPECT_EQ(unfinished_row.own_holds[unfinished], 1u);
  EXPECT_EQ(unfinished_row.own_holds.sum(), unfinished_row.own_handles);

  open_shelf();
  EXPECT_TRUE(eventually([&] { return held(home(), name).own_holds[message] == 0; }));
  const std::lock_guard guard{shelf_there->mutex};
  shelf_there->refs.clear();
  EXPECT_TRUE(eventually([&] { return held(home(), name).own_holds[exchange] == 0; }));
}

TEST_F(remembered, what_the_survey_says_is_exact_again_after_threads_have_taken_and_dropped_references) {
  open_shelf();
  connect();
  const auto to = keeper_at_far();
  const auto ref = put();
  const auto name = name_of(ref);
  std::atomic<int> running{3};
  std::vector<std::thread> threads;
  for (int which = 0; which < 3; ++which)
    threads.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        const auto copy = ref;
        const auto view = copy.get();
        caf::anon_send(to, copy);
        const std::lock_guard guard{kept_->mutex};
        kept_->refs.clear();
      }
      --running;
    });
  while (running > 0)
    for (const auto& object : at_near().objects)
      for (const auto& holder : object.holders)
        EXPECT_LT(holder.count, 10'000u) << to_string(holder.reason); // A count below zero would be huge.
  for (auto& thread : threads)
    thread.join();
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard guard{kept_->mutex};
    kept_->refs.clear();
    const auto row = held(home(), name);
    return row.own_holds.sum() == 1 && row.own_holds[store::hold_reason::reference] == 1 && row.own_handles == 1
           && row.in_flight.empty();
  }));
  const auto summary = at_near();
  ASSERT_NE(row_of(summary, name), nullptr);
  EXPECT_EQ(row_of(summary, name)->holders.size(), 1u);
  EXPECT_EQ(count_of(summary, name, memory_reason::handle), 1u);
}

TEST_F(remembered, references_to_what_was_brought_here_from_another_host_are_handles) {
  separate();
  open_shelf();
  connect();
  const auto to = keeper_at_far();
  const auto ref = put();
  ASSERT_TRUE(ask<int>(near().system, to, ref));
  ASSERT_TRUE(ask<int>(near().system, to, ref));
  ASSERT_TRUE(kept_->refs.at(0).get(10s));
  ASSERT_TRUE(internal::state_of(kept_->refs.at(0))->source->place());
  const auto name = name_of(kept_->refs.at(0));
  EXPECT_EQ(held(*far().home, name).own_holds[store::hold_reason::exchange], 1u);
  // The last message's own reference may go a moment later.
  EXPECT_TRUE(eventually([&] { return count_of(at_far(), name, memory_reason::handle) == 2u; }));
  const auto there = at_far();
  ASSERT_NE(row_of(there, name), nullptr);
  EXPECT_EQ(row_of(there, name)->state, "sealed");
}

// Goal: a node does not report the holds of another node of its process in the same store.
TEST_F(remembered, holds_of_another_node_of_the_process_are_no_handles_of_this_one) {
  using enum store::hold_reason;
  open_shelf();
  connect();
  const auto to = keeper_at_far();
  const auto ref = put();
  ASSERT_TRUE(ask<int>(near().system, to, ref));
  EXPECT_TRUE(eventually([&] {
    const auto holds = held(home(), name_of(ref)).own_holds;
    return holds[exported] == 1 && holds[imported] == 1 && holds[message] == 0;
  }));
  // Near's reference, far's, and the one that far's link keeps for every reference that came over it.
  EXPECT_EQ(count_of(at_near(), name_of(ref), memory_reason::handle), 3u);
  EXPECT_FALSE(holder_of(at_far(), name_of(ref), memory_reason::exported));
  EXPECT_EQ(count_of(at_far(), name_of(ref), memory_reason::handle), 3u);
}

TEST_F(remembered, a_node_without_a_store_says_what_it_can) {
  near_options_.store = std::nullopt;
  const auto ref = put();
  EXPECT_TRUE(at_near().objects.empty());
  {
    allow_out_of_band_handles guard{home()};
    ASSERT_TRUE(serialize(ref, {}, near().types, near().families));
  }
  const auto summary = at_near();
  ASSERT_EQ(summary.objects.size(), 1u);
  EXPECT_EQ(summary.objects[0].state, "in memory");
  EXPECT_EQ(summary.objects[0].size_bytes, 80'000u);
}

TEST_F(remembered, a_limit_leaves_off_the_smallest_and_says_how_many) {
  const std::vector kept{put(1000), put(3000), put(2000)};
  const auto summary = home().memory_summary({.objects_max = 1}).value();
  ASSERT_EQ(summary.objects.size(), 1u);
  EXPECT_EQ(summary.objects[0].size_bytes, 24'000u);
  EXPECT_EQ(summary.objects_left_off, 2u);
  EXPECT_EQ(summary.bytes_left_off, 24'000u);
}

// -- over links

TEST_F(remembered, a_peer_is_told_where_the_link_allows_it) {
  far_options_.accepted_links.allow_memory_summary = true;
  connect();
  const auto ref = far().home->put(doubles(std::vector<double>(100, 1.0))).value();
  const auto told = link_->memory_summary();
  ASSERT_TRUE(told) << told.error().message();
  ASSERT_NE(row_of(*told, name_of(ref)), nullptr);
  EXPECT_EQ(row_of(*told, name_of(ref))->size_bytes, 800u);
  EXPECT_EQ(told->processes.at(0).node, "far");
  const auto limited = link_->memory_summary(10s, {.objects_max = 0});
  ASSERT_TRUE(limited);
  EXPECT_TRUE(limited->objects.empty());
  EXPECT_EQ(limited->objects_left_off, 1u);
}

TEST_F(remembered, and_by_every_family_that_a_link_may_have) {
  far_options_.accepted_links.allow_memory_summary = true;
  const auto ref = put(100);
  for (const std::string family : {"typed", "msgpack", "cereal"}) {
    far_options_.accepted_links.serializers = {family};
    far_options_.accepted_links.trusted_families = true;
    far_.reset();
    far();
    const auto connected = near().home->connect(address_, {.serializers = {family}, .trusted_families = true});
    ASSERT_TRUE(connected) << connected.error().message();
    const auto told = connected->memory_summary();
    ASSERT_TRUE(told) << family << ": " << told.error().message();
    EXPECT_NE(row_of(*told, name_of(ref)), nullptr);
  }
}

TEST_F(remembered, and_not_where_it_does_not) {
  connect();
  const auto told = link_->memory_summary();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code(), node_errc::not_allowed);
  EXPECT_NE(told.error().message().find("allow_memory_summary"), std::string::npos) << told.error().message();
}

TEST_F(remembered, this_users_processes_may_look_and_reach_nothing_else) {
  publish("cup", far().system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; }));
  near_options_.local_queries = false;
  const auto mine = own_local_query_addresses();
  ASSERT_EQ(mine.size(), 1u);
  auto link = near().home->connect(mine[0], {.serializers = {"msgpack"}});
  ASSERT_TRUE(link) << link.error().message();
  EXPECT_EQ(link->memory_summary().value().processes.at(0).node, "far");
  const auto cup = link->find("cup", 0s);
  ASSERT_FALSE(cup);
  EXPECT_EQ(cup.error().code(), node_errc::not_found);
  EXPECT_FALSE(link->shares_store());
}

TEST_F(remembered, only_so_many_of_this_users_processes_may_look_at_a_time) {
  far();
  near_options_.local_queries = false;
  const auto mine = own_local_query_addresses();
  ASSERT_EQ(mine.size(), 1u);
  const auto look = [&] { return near().home->connect(mine[0], {.serializers = {"msgpack"}, .connect_timeout = 10s}); };
  std::vector<troupe::link> links;
  for (int i = 0; i < 64; ++i) {
    auto link = look();
    ASSERT_TRUE(link) << "link " << i << ": " << link.error().message();
    links.push_back(*std::move(link));
  }
  EXPECT_FALSE(look());
  EXPECT_EQ(links.back().memory_summary().value().processes.at(0).node, "far"); // The other links are served as before.
  links.front().close();
  EXPECT_TRUE(eventually([&] { return look().has_value(); }));
}

TEST_F(remembered, a_node_that_is_not_to_be_asked_is_not_listed) {
  near_options_.local_queries = false;
  near();
  const auto known = local_nodes();
  ASSERT_TRUE(known) << known.error().message();
  for (const auto& each : *known)
    EXPECT_NE(each.process, self);
}

// Goal: if a peer asks faster than it is answered, the number of answers that a node works on stays bounded.
TEST(inspectors, refuse_what_is_asked_beyond_their_limit) {
  caf::actor_system_config config;
  config.set("scheduler.max-threads", 2 * internal::queries_per_link_max);
  caf::actor_system system{config};
  std::promise<void> go_on;
  const auto may_go_on = go_on.get_future().share();
  const auto asked = internal::spawn_inspector(
      system, {.memory = [may_go_on](const memory_query&) -> std::expected<memory_summary, node_error> {
                 may_go_on.wait();
                 return memory_summary{};
               },
               .report = {}});
  caf::scoped_actor asks{system};
  const auto ask = [&] { return asks->request(asked, 10s, memory_query{}); };
  std::vector<decltype(ask())> answers;
  for (std::size_t i = 0; i < internal::queries_per_link_max; ++i)
    answers.push_back(ask());
  node_error refusal{node_errc::task_failed, "it was answered"};
  ask().receive([](const memory_summary&) {}, [&](const caf::error& why) { refusal = to_node_error(why); });
  EXPECT_EQ(refusal.code(), node_errc::link_busy);
  EXPECT_NE(refusal.message().find("limit 4"), std::string::npos) << refusal.message();
  go_on.set_value();
  std::size_t answered = 0;
  for (auto& each : answers)
    each.receive([&](const memory_summary&) { ++answered; },
                 [](const caf::error& why) { ADD_FAILURE() << troupe::text_of(why); });
  EXPECT_EQ(answered, internal::queries_per_link_max);
  EXPECT_TRUE(eventually([&] { // An answer counts until its actor has ended.
    bool is_answered = false;
    ask().receive([&](const memory_summary&) { is_answered = true; }, [](const caf::error&) {});
    return is_answered;
  }));
  asks->send_exit(asked, caf::exit_reason::user_shutdown);
}

// -- combining several summaries, and objects that look like leaks

memory_object object(std::string name, std::vector<memory_holder> holders) {
  return {.object = std::move(name), .store = "s", .state = "sealed", .size_bytes = 1, .holders = std::move(holders)};
}

memory_summary of(std::vector<memory_object> objects, std::vector<memory_process> processes = {}) {
  return {.processes = std::move(processes), .objects = std::move(objects)};
}

TEST(combining, what_a_process_says_itself_stands_in_place_of_what_others_know) {
  const auto table = of({object(
      "a", {{.reason = memory_reason::handle, .process = 1}, {.reason = memory_reason::handle, .process = 2}})});
  const auto said =
      of({object("a", {{.reason = memory_reason::handle, .process = 1, .count = 3}})}, {{1, "n", "s", {}}});
  for (const auto& parts : {std::vector{table, said}, std::vector{said, table}}) {
    const auto both = combined(parts);
    ASSERT_EQ(both.objects.size(), 1u);
    const auto& holders = both.objects[0].holders;
    ASSERT_EQ(holders.size(), 2u);
    EXPECT_EQ(std::ranges::count(holders, 1u, &memory_holder::process), 1);
    EXPECT_EQ(std::ranges::find(holders, 1u, &memory_holder::process)->count, 3u);
    EXPECT_EQ(std::ranges::find(holders, 2u, &memory_holder::process)->count, 0u);
  }
}

TEST(combining, two_nodes_of_one_process_count_its_handles_once) {
  const auto one = of({object("a", {{.reason = memory_reason::handle, .process = 1, .count = 3}})});
  const auto both = combined({one, one});
  ASSERT_EQ(both.objects.at(0).holders.size(), 1u);
  EXPECT_EQ(both.objects[0].holders[0].count, 3u);
}

// Goal: rows with the same name become one, even if a later part knows more and replaces an earlier one.
TEST(combining, many_rows_are_joined_by_name_the_largest_first) {
  constexpr int many = 1000;
  std::vector<memory_summary> parts(3);
  for (int i = 0; i < many; ++i) {
    const auto name = i % 2 == 0 ? std::to_string(i) : std::string(40, 'n') + std::to_string(i);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      auto row =
          object(name, {{.reason = memory_reason::handle, .process = static_cast<std::uint32_t>(part), .count = 1}});
      row.store = part == 1 ? "s" : "";
      row.size_bytes = static_cast<std::uint64_t>(i % 10);
      parts[part].objects.push_back(std::move(row));
    }
  }
  const auto all = combined(parts);
  ASSERT_EQ(all.objects.size(), std::size_t{many});
  EXPECT_TRUE(std::ranges::is_sorted(all.objects, std::ranges::greater{}, &memory_object::size_bytes));
  EXPECT_EQ(all.objects[0].object, std::string(40, 'n') + "9"); // The first one of the largest.
  for (const auto& each : all.objects) {
    EXPECT_EQ(each.store, "s") << each.object;
    EXPECT_EQ(each.holders.size(), 3u) << each.object;
  }
}

TEST(leaks, objects_that_only_keep_each_other_are_a_cycle) {
  const auto captured_in = [](std::string name) {
    return std::vector<memory_holder>{{.reason = memory_reason::captured, .count = 1, .object = std::move(name)}};
  };
  const auto hints = leak_hints(of({object("a", captured_in("b")), object("b", captured_in("a")),
                                    object("inside", captured_in("a")), object("kept", captured_in("root")),
                                    object("root", {{.reason = memory_reason::handle, .process = 1, .count = 1}}),
                                    object("not listed", captured_in("elsewhere"))}));
  std::set<std::string> named;
  for (const auto& each : hints)
    named.insert(each.object);
  EXPECT_EQ(named, (std::set<std::string>{"a", "b", "inside"}));
}

TEST(leaks, old_exports_and_messages_are_named_and_young_ones_are_not) {
  const auto aged = [](memory_reason reason, std::int64_t age_ms) {
    return memory_holder{.reason = reason, .process = 7, .count = 1, .link = 3, .peer = "hall", .age_ms = age_ms};
  };
  for (const auto reason : {memory_reason::exported, memory_reason::lost_link, memory_reason::pending_message,
                            memory_reason::queued_message}) {
    EXPECT_EQ(leak_hints(of({object("a", {aged(reason, 1000)})}), 2s).size(), 0u) << to_string(reason);
    const auto hints = leak_hints(of({object("a", {aged(reason, 3000)})}), 2s);
    ASSERT_EQ(hints.size(), 1u) << to_string(reason);
    EXPECT_EQ(hints[0].object, "a");
  }
  EXPECT_TRUE(leak_hints(of({object("a", {aged(memory_reason::handle, 1'000'000)})}), 2s).empty());
}

} // namespace
} // namespace troupe::tests

// Goal: a node carries out the orders of peers that may give them, says who gave them, and refuses all others by name.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/internal/objects/out_of_band.hpp>
#include <troupe/framework/node_activity.hpp>
#include <troupe/framework/node_report.hpp>

#include "log_lines.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using names = std::vector<std::string>;

/// near and far are linked; a third node gives orders to far.
class orders : public two_nodes {
protected:
  orders() {
    near_options_.store = std::nullopt;
    far_options_.store = std::nullopt;
    far_options_.accepted_links.allow_orders = true;
  }

  link& commander() {
    if (!commander_) {
      third_ = std::make_unique<side>(node_options{.name = "third", .store = std::nullopt, .local_queries = false});
      commander_.emplace(third_->home->connect(address_).value());
    }
    return *commander_;
  }
  /// far's end of the link to near.
  link watched() {
    connect();
    std::optional<link> found;
    EXPECT_TRUE(eventually([&] {
      for (const auto& each : far().home->links())
        if (each.peer_name() == "near")
          found.emplace(each);
      return found.has_value();
    }));
    return found.value();
  }
  node_error refusal(const node_order& order) {
    auto done = commander().order(order);
    EXPECT_FALSE(done);
    return done ? node_error{node_errc::none, {}} : done.error();
  }

  std::unique_ptr<side> third_;
  std::optional<link> commander_;
};

TEST_F(orders, close_a_link_and_the_log_says_who_gave_them) {
  const auto doomed = watched();
  auto& from = commander();
  const log_lines log{log_level::info};
  const auto done = from.order({.what = order_kind::close_link, .number = doomed.number()});
  EXPECT_TRUE(done) << done.error().message();
  EXPECT_TRUE(eventually([&] { return !link_->is_open() && !doomed.is_open(); }));
  EXPECT_TRUE(from.is_open());
  EXPECT_EQ(log.with("info: node far was ordered by third (link "), 1u) << log.text();
  EXPECT_EQ(log.with("close link " + std::to_string(doomed.number()) + "; done"), 1u) << log.text();
}

TEST_F(orders, close_even_the_link_over_which_they_come) {
  far();
  auto& from = commander();
  const auto number = far().home->links().at(0).number();
  static_cast<void>(from.order({.what = order_kind::close_link, .number = number}));
  EXPECT_TRUE(eventually([&] { return !from.is_open(); }));
}

TEST_F(orders, change_the_families_and_the_compression_of_a_link) {
  const auto changed = watched();
  const auto done = commander().order({.what = order_kind::reconfigure_link,
                                       .number = changed.number(),
                                       .serializers = names{"msgpack"},
                                       .deserializers = names{"msgpack", "typed"},
                                       .compression = "lz4"});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(changed.serializers(), names{"msgpack"});
  EXPECT_EQ(changed.deserializers(), (names{"msgpack", "typed"}));
  EXPECT_EQ(changed.compression(), compression::lz4);
}

TEST_F(orders, fail_as_the_same_call_in_the_node_would) {
  const auto kept = watched();
  const auto refused =
      refusal({.what = order_kind::reconfigure_link, .number = kept.number(), .serializers = names{"no such family"}});
  EXPECT_EQ(refused.code(), node_errc::bad_option);
  EXPECT_NE(refused.message().find("no such family"), std::string::npos) << refused.message();
  EXPECT_EQ(kept.serializers(), (names{"typed", "msgpack"}));
}

TEST_F(orders, about_links_that_do_not_exist_are_refused) {
  far();
  for (const auto what : {order_kind::close_link, order_kind::reconfigure_link}) {
    const std::string compression = what == order_kind::reconfigure_link ? "lz4" : "";
    const auto refused = refusal({.what = what, .number = 1'000'000, .compression = compression});
    EXPECT_EQ(refused.code(), node_errc::not_found);
    EXPECT_NE(refused.message().find("no open link 1000000"), std::string::npos) << refused.message();
  }
}

TEST_F(orders, that_contradict_themselves_are_refused) {
  const auto kept = watched();
  const auto number = kept.number();
  for (const auto& order : std::vector<node_order>{
           {.what = order_kind::close_link, .number = number, .compression = "lz4"},
           {.what = order_kind::close_link, .number = number, .object = "x"},
           {.what = order_kind::reconfigure_link, .number = number},
           {.what = order_kind::reconfigure_link, .number = number, .compression = "magic"},
           {.what = order_kind::reconfigure_link, .number = number, .compression = "lz4", .object = "x"},
           {.number = number},
           {.what = order_kind::none, .number = number},
           {.what = order_kind::release_out_of_band},
           {.what = order_kind::release_out_of_band, .number = number, .object = "x"},
           {.what = static_cast<order_kind>(77), .number = number}})
    EXPECT_TRUE(refusal(order).code() == node_errc::bad_option || static_cast<int>(order.what) == 77)
        << static_cast<int>(order.what);
  EXPECT_TRUE(kept.is_open());
  EXPECT_EQ(kept.compression(), compression::none);
}

TEST_F(orders, need_the_permission) {
  far_options_.accepted_links.allow_orders = false;
  far_options_.accepted_links.allow_report = true;
  const auto kept = watched();
  const log_lines log{log_level::info};
  const auto refused = refusal({.what = order_kind::close_link, .number = kept.number()});
  EXPECT_EQ(refused.code(), node_errc::not_allowed);
  EXPECT_NE(refused.message().find("must have allow_orders"), std::string::npos) << refused.message();
  EXPECT_TRUE(kept.is_open());
  EXPECT_EQ(log.with("was ordered"), 0u) << log.text();
}

TEST_F(orders, may_be_allowed_to_a_role_only) {
  far_options_.accepted_links.allow_orders = false;
  far_options_.accepted_links.roles.push_back({.name = "here", .same_user = true, .allow_orders = true});
  const auto doomed = watched();
  EXPECT_TRUE(commander().order({.what = order_kind::close_link, .number = doomed.number()}));
}

// -- out-of-band pins

class orders_about_pins : public orders {
protected:
  void pin() {
    const auto ref = far().home->put(array<double>(std::vector<double>(10'000, 2.5))).value();
    const allow_out_of_band_handles guard{*far().home};
    saved_ =
        serialize(ref, {.serializers = {"typed"}, .on_error = on_error::raise}, far().types, far().families).value();
  }
  std::optional<memory_object> pinned() {
    auto summary = far().home->memory_summary().value();
    for (auto& each : summary.objects)
      if (std::ranges::find(each.holders, memory_reason::out_of_band, &memory_holder::reason) != each.holders.end())
        return std::move(each);
    return std::nullopt;
  }

  payload saved_;
};

TEST_F(orders_about_pins, release_an_object_of_the_store) {
  far_options_.store = store::options{.name = store_, .capacity_bytes = 64_MiB};
  pin();
  const auto object = pinned();
  ASSERT_TRUE(object);
  const auto done = commander().order({.what = order_kind::release_out_of_band, .object = object->object});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_FALSE(pinned());
  const auto gone =
      deserialize<object_ref<array<double>>>(saved_, {.deserializers = {"typed"}}, far().types, far().families);
  ASSERT_TRUE(gone) << gone.error().message();
  const auto value = gone->get();
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), node_errc::object_freed);
}

TEST_F(orders_about_pins, release_objects_in_memory_by_the_place_where_they_were_pinned) {
  pin();
  const auto object = pinned();
  ASSERT_TRUE(object);
  EXPECT_TRUE(commander().order({.what = order_kind::release_out_of_band, .object = object->object}));
  EXPECT_FALSE(pinned());
}

TEST_F(orders_about_pins, leave_other_pins_alone) {
  pin();
  const auto refused = refusal({.what = order_kind::release_out_of_band, .object = "another"});
  EXPECT_EQ(refused.code(), node_errc::not_found);
  EXPECT_NE(refused.message().find("\"another\""), std::string::npos) << refused.message();
  EXPECT_TRUE(pinned());
}

// -- processes of the same user

class orders_of_the_user : public two_nodes {
protected:
  std::expected<void, node_error> close_first_link() {
    near_options_.local_queries = false;
    connect();
    const auto known = local_nodes().value();
    const auto mine = std::ranges::find(known, static_cast<std::uint32_t>(::getpid()), &local_node::process);
    if (mine == known.end())
      return std::unexpected{node_error{node_errc::not_found, "far is not listed"}};
    auto over = near().home->connect(mine->address, {.serializers = {"msgpack"}, .connect_timeout = 10s}).value();
    return over.order({.what = order_kind::close_link, .number = far().home->links().at(0).number()});
  }
};

TEST_F(orders_of_the_user, are_carried_out) {
  const auto done = close_first_link();
  EXPECT_TRUE(done) << done.error().message();
  EXPECT_TRUE(eventually([&] { return !link_->is_open(); }));
}

TEST_F(orders_of_the_user, are_refused_if_the_node_is_not_to_take_them) {
  far_options_.local_orders = false;
  const auto refused = close_first_link();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::not_allowed);
  EXPECT_TRUE(link_->is_open());
}

} // namespace
} // namespace troupe::tests

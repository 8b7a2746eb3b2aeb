#include <troupe/framework/internal/handles/serving.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

class pulls : public part_of_a_ledger, protected answer_exports {
protected:
  pulls() : to_(link(5, b)) {
    objects_.hold(x);
    export_to(to_, x, books_.entries.refer_to(x));
  }

  static void export_to(link_record& to, const object_id& name, reference what) {
    to.exports[name] = {.what = what, .count = 1, .reclaimed = 0, .since = {}};
  }
  std::expected<handle_descriptor, handle_errc> export_in_answer(link_record&, reference what) override {
    if (objects_.is_busy)
      return std::unexpected{handle_errc::busy};
    return handle_descriptor{
        .name = at(what).place, .mode = handle_mode::shared, .size_bytes = 5, .offer = {}, .home = {}};
  }

  link_record& to_;
  imports imports_{books_};
  shared_fetches fetches_{books_, imports_, *this, serving_};
  serving serving_{books_, fetches_, *this};
};

TEST_F(pulls, of_what_is_here_are_answered_with_a_head_and_chunks) {
  serving_.on_pull(to_, {1, x}, false);
  EXPECT_EQ(wanted(), words{"bytes wanted on 5"});
  const auto next = serving_.next_chunk(to_);
  EXPECT_EQ(wanted(), words{"5: head 1"});
  EXPECT_EQ(next.place, x);
  EXPECT_EQ(next.what.offset, 0u);
  EXPECT_EQ(next.what.size_bytes, 5u);
  EXPECT_FALSE(to_.servings.has_ready());
}

TEST_F(pulls, take_what_is_captured_along) {
  objects_.captured[x] = {y};
  objects_.hold(y);
  serving_.on_pull(to_, {1, x}, false);
  (void)serving_.next_chunk(to_);
  const auto actions = books_.actions.take();
  const auto& sent = std::get<send_message>(actions.back());
  EXPECT_EQ(std::get<pull_head>(sent.what).captured.size(), 1u);
}

TEST_F(pulls, of_what_was_never_exported_are_refused) {
  serving_.on_pull(to_, {1, y}, false);
  EXPECT_EQ(wanted(), words{"5: refused 1 unknown"});
}

TEST_F(pulls, of_what_is_elsewhere_wait_for_it) {
  auto& source = link(6, c);
  export_to(to_, y, import(source, y));
  serving_.on_pull(to_, {1, y}, true);
  fetches_.begin_pulls(source);
  EXPECT_EQ(wanted(), words{"make room 1"});
  EXPECT_EQ(serving_.broken_invariant(), "");
  EXPECT_TRUE(fetches_.has_replica(1, y, fetch_step::making_room));
  EXPECT_EQ(wanted(), (words{"6: release 2 x1", "bytes wanted on 5"}));
}

TEST_F(pulls, that_nobody_wants_any_more_end_their_fetch) {
  auto& source = link(6, c);
  const auto what = import(source, y);
  export_to(to_, y, what);
  serving_.on_pull(to_, {1, y}, true);
  serving_.end(to_, 1);
  serving_.end(to_, 1);
  EXPECT_TRUE(at(what).fetch->waiters.empty());
  EXPECT_TRUE(to_.servings.empty());
}

TEST_F(pulls, of_neighbours_are_answered_with_a_handle) {
  auto& neighbour = link(6, c, true);
  export_to(neighbour, x, books_.entries.refer_to(x));
  serving_.on_pull(neighbour, {1, x}, false);
  EXPECT_EQ(wanted(), words{"6: here 1"});
  objects_.is_busy = true;
  serving_.on_pull(neighbour, {2, x}, false);
  EXPECT_EQ(wanted(), words{"6: refused 2 busy"});
}

TEST_F(pulls, end_with_what_they_are_of) {
  serving_.on_pull(to_, {1, x}, false);
  serving_.on_pull(to_, {2, x}, false);
  serving_.end_all_of(to_, x);
  EXPECT_TRUE(to_.servings.empty());
  serving_.on_pull(to_, {3, x}, false);
  serving_.end_all(to_);
  EXPECT_TRUE(to_.servings.empty());
}

} // namespace
} // namespace troupe::internal::handles

// A forked child can use nothing that its parent has open. Each call in the child reports this.
#include "support.hpp"

namespace troupe::store::test {

namespace {

using forking_test = store_test;

TEST_F(forking_test, everything_the_parent_had_is_poisoned_in_the_child) {
  auto store = open();
  const auto made = put(store, "parent's");
  auto building = store.create(10);
  auto poisoned = child([&] {
    using enum store_errc;
    const auto all = {code_of(store.put(bytes_of("x"))),
                      code_of(store.create(1)),
                      code_of(store.find(made.id())),
                      code_of(made.pin()),
                      code_of(made.captured()),
                      code_of(store.summary()),
                      code_of(store.verify()),
                      code_of(made.hand_over(store.self(), 1)),
                      code_of(store.adopt(made.id(), store.self(), 1)),
                      code_of(building->capture(std::vector{made.id()})),
                      code_of(std::move(*building).seal())};
    for (auto code : all)
      if (code != forked)
        return 1;
    return store.contains(made.id()) || store.shares_with(store.self()) || store.reap() != 0 ? 2 : 0;
  });
  EXPECT_EQ(poisoned.wait(), fine);
  EXPECT_TRUE(std::move(*building).seal());
}

TEST_F(forking_test, the_child_cannot_write_into_its_parents_builder) {
  auto store = open();
  auto building = store.create(10);
  auto vandal = child([&] {
    ::signal(SIGSEGV, SIG_DFL); // A sanitizer would turn it into an exit code.
    *static_cast<volatile std::byte*>(building->bytes().data()) = std::byte{1};
    return 0;
  });
  EXPECT_EQ(vandal.wait(), (ending{false, 0, SIGSEGV}));
  EXPECT_TRUE(std::move(*building).seal());
}

TEST_F(forking_test, copies_that_die_in_the_child_do_not_count_in_the_parent) {
  auto store = std::make_optional(open());
  auto made = std::make_optional(put(*store, "parent's"));
  auto view = std::make_optional(*made->pin());
  auto building = std::make_optional(*store->create(10));
  auto poisoned = child([&] {
    const auto copy = *made;
    const auto another = *view;
    building.reset();
    view.reset();
    made.reset();
    store.reset();
    return 0;
  });
  EXPECT_EQ(poisoned.wait(), fine);
  EXPECT_EQ(text_of(view->bytes()), "parent's");
  EXPECT_TRUE(store->contains(made->id()));
  EXPECT_TRUE(std::move(**&building).seal());
  EXPECT_EQ(child([&] { return open().find(made->id()) ? 0 : 1; }).wait(), fine);
}

TEST_F(forking_test, the_child_opens_anew_as_a_process_of_its_own) {
  auto store = std::make_optional(open());
  const auto made = put(*store, "parent's");
  auto other = child([&] {
    auto own = open();
    if (own.self() == store->self() || !own.shares_with(store->self()))
      return 1;
    store.reset(); // Closing the inherited store must not drop the child's own locks.
    const auto kept = put(own, "child's");
    return child([&] { return open().shares_with(own.self()) ? 0 : 1; }).wait() == fine ? 0 : 2;
  });
  EXPECT_EQ(other.wait(), fine);
  EXPECT_EQ(store->summary()->processes, std::vector{::getpid()});
}

TEST_F(forking_test, a_child_that_lives_on_does_not_keep_its_dead_parent_alive) {
  auto store = open();
  auto grandchild = shared<std::atomic<pid_t>>{};
  auto parent = child([&] {
    auto own = open();
    const auto made = put(own, "doomed");
    if (::fork() == 0) {
      *grandchild = ::getpid(); // By then it has closed its parent's files.
      ::pause();
      ::_exit(1);
    }
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return *grandchild != 0; }));
  EXPECT_EQ(store.summary()->objects, 1u);
  parent.kill_and_wait();
  EXPECT_EQ(store.reap(), 1u);
  EXPECT_EQ(store.summary()->objects, 0u);
  ::kill(*grandchild, SIGKILL);
}

} // namespace

} // namespace troupe::store::test

// Looking at stores from outside.
#include "support.hpp"

#include <troupe/store/inspection.hpp>

namespace troupe::store::test {

namespace {

class inspection_test : public store_test {
protected:
  [[nodiscard]] std::optional<found_store> found() const {
    for (auto& store : find_stores(settings_.directory))
      if (store.name == settings_.name)
        return store;
    return std::nullopt;
  }

  [[nodiscard]] auto inspected() const { return inspect(settings_.name, settings_.directory); }
  [[nodiscard]] auto cleaned() const { return clean(settings_.name, settings_.directory); }

  /// Puts two objects, and dies.
  void leave_one_behind() const {
    auto step = shared<std::atomic<int>>{};
    auto victim = child([&] {
      auto store = open();
      const auto inner = put(store, "inner");
      const auto outer = put(store, "outer", std::vector{inner.id()});
      *step = 1;
      ::pause();
      return 0;
    });
    ASSERT_TRUE(eventually([&] { return *step == 1; }));
    victim.kill_and_wait();
  }
};

TEST_F(inspection_test, a_store_that_is_not_there_is_not_made) {
  EXPECT_EQ(code_of(inspected()), store_errc::not_found);
  EXPECT_EQ(code_of(cleaned()), store_errc::not_found);
  settings_.must_exist = true;
  EXPECT_EQ(message_of(object_store::open(settings_)), "no process has store \"" + settings_.name + "\" open");
  EXPECT_FALSE(found());
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(inspection_test, a_store_in_use_is_found_and_looked_into_by_another_process) {
  auto store = open();
  const auto kept = put(store, "kept");
  EXPECT_EQ(found()->in_use_by, ::getpid());
  EXPECT_EQ(child([&] {
              const auto there = found();
              if (!there || there->in_use_by != ::getppid() || !there->is_of_this_layout || there->memory_bytes == 0)
                return 1;
              const auto summary = inspected();
              return summary && summary->rows.size() == 1 && summary->rows[0].id == kept.id() ? 0 : 2;
            }).wait(),
            fine);
  EXPECT_TRUE(inspected()); // Also by the same, whatever options it was opened with.
  EXPECT_TRUE(store.find(kept.id())) << "looking has dropped this process's locks";
  EXPECT_EQ(child([&] { return open().contains(kept.id()) ? 0 : 1; }).wait(), fine);
}

TEST_F(inspection_test, what_dead_processes_left_is_seen_as_they_left_it_and_removed_on_demand) {
  leave_one_behind();
  const auto there = found();
  ASSERT_TRUE(there);
  EXPECT_EQ(there->in_use_by, std::nullopt);
  for (auto round = 0; round < 2; ++round) { // Looking changes nothing.
    const auto summary = inspected();
    ASSERT_TRUE(summary) << message_of(summary);
    ASSERT_EQ(summary->rows.size(), 2u);
    EXPECT_EQ(summary->rows[0].captured_by, std::vector{summary->rows[1].id});
  }
  const auto removed = cleaned();
  ASSERT_TRUE(removed) << message_of(removed);
  EXPECT_EQ(*removed, std::nullopt);
  EXPECT_FALSE(found());
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(inspection_test, cleaning_a_store_in_use_reaps_the_dead_only) {
  auto store = open();
  const auto kept = put(store, "kept");
  auto step = shared<std::atomic<int>>{};
  auto victim = child([&] {
    auto mine = open();
    const auto own = put(mine, "own");
    *step = 1;
    ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  victim.kill_and_wait();
  EXPECT_EQ(child([&] { // Opening reaps already.
              const auto reaped = cleaned();
              return reaped && *reaped ? 0 : 1;
            })
                .wait(),
            fine);
  EXPECT_EQ(store.summary()->rows.size(), 1u);
  EXPECT_TRUE(store.contains(kept.id()));
}

} // namespace

} // namespace troupe::store::test

// Two copies of the library in one process. To each other, and to other processes, they look like two processes.
#include "second_copy.hpp"
#include "support.hpp"

#include <troupe/store/internal/files/lock_file.hpp>

namespace troupe::store::test {

namespace {

class two_copies_test : public store_test {
protected:
  /// Returns `fine` if another process finds that `who` is alive and shares its store.
  [[nodiscard]] ending others_see(const process_id& who) const {
    return child([this, who] {
             auto theirs = open();
             return theirs.reap() == 0 && theirs.shares_with(who) ? 0 : 1;
           })
        .wait();
  }
};

TEST_F(two_copies_test, that_have_one_store_open_see_each_others_objects_and_each_other) {
  auto store = open();
  const auto object = put(store, "the first one's");
  auto other = second_copy::open(settings_.name);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->number(), store.number());
  EXPECT_NE(other->slot(), store.self().slot);
  EXPECT_EQ(other->read(to_string(object.id())), "the first one's");
  EXPECT_EQ(store.reap(), 0u);
  EXPECT_EQ(others_see(store.self()), fine);
}

// Goal: if one copy closes the store, all other processes still consider the other copy alive, and its objects stay.
TEST_F(two_copies_test, that_one_closes_the_store_does_not_end_the_others) {
  auto store = std::make_optional(open());
  auto object = std::make_optional(put(*store, "the first one's"));
  auto other = second_copy::open(settings_.name);
  ASSERT_NE(other, nullptr);
  other.reset();
  EXPECT_EQ(others_see(store->self()), fine);
  EXPECT_EQ(read(*object), "the first one's");
  other = second_copy::open(settings_.name);
  ASSERT_NE(other, nullptr);
  const auto id = other->put("the second one's");
  object.reset();
  store.reset();
  EXPECT_EQ(other->read(id), "the second one's");
  EXPECT_EQ(child([&] {
              auto theirs = open();
              return theirs.reap() == 0 && theirs.summary()->objects == 1 ? 0 : 1;
            }).wait(),
            fine);
  EXPECT_EQ(open().summary()->objects, 1u);
}

TEST_F(two_copies_test, that_one_only_looks_does_not_end_the_other) {
  auto store = open();
  const auto path = file_ending_in(".lock");
  EXPECT_EQ(internal::any_lock_on(path), ::getpid()); // Opens and closes the lock file.
  EXPECT_EQ(others_see(store.self()), fine);
}

// Goal: if a process with both copies dies, its child keeps neither copy alive.
TEST_F(two_copies_test, in_a_process_that_dies_are_both_dead_though_a_child_of_it_lives_on) {
  auto store = open();
  auto grandchild = shared<std::atomic<pid_t>>{};
  auto parent = child([&] {
    auto own = open();
    const auto made = put(own, "doomed");
    const auto other = second_copy::open(settings_.name);
    if (other == nullptr || other->put("doomed as well").empty())
      return 1;
    if (::fork() == 0) {
      *grandchild = ::getpid(); // By then it has closed its parent's files.
      ::pause();
      ::_exit(1);
    }
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return *grandchild != 0; }));
  EXPECT_EQ(store.summary()->objects, 2u);
  parent.kill_and_wait();
  EXPECT_EQ(store.reap(), 2u);
  EXPECT_EQ(store.summary()->objects, 0u);
  ::kill(*grandchild, SIGKILL);
}

} // namespace

} // namespace troupe::store::test

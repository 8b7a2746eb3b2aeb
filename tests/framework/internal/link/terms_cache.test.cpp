// A thread caches the newest terms of its links, and takes a link's lock only if there are newer terms.
#include <troupe/framework/internal/link/terms_cache.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class remembering_terms : public way_out {
protected:
  const sending_terms& take(bool is_waited_for = false) { return cache_.take(terms, claims_, is_waited_for); }
  void renew() {
    auto next = std::make_shared<sending_terms>(*newest);
    next->number = ++last_number;
    newest = next;
    terms_number = next->number;
  }

  terms_cache cache_;
  message_claims claims_;
};

TEST_F(remembering_terms, gives_the_newest) {
  EXPECT_EQ(&take(), newest.get());
  renew();
  EXPECT_EQ(&take(), newest.get());
}

TEST_F(remembering_terms, takes_no_lock_for_those_that_are_known) {
  (void)take();
  const auto held = mutex_.lock(); // Taking it again would deadlock.
  EXPECT_EQ(&take(), newest.get());
}

TEST_F(remembering_terms, keeps_them_until_the_next_call) {
  const auto& first = take();
  const auto number = first.number;
  renew();
  EXPECT_EQ(first.number, number);
  EXPECT_NE(take().number, number);
}

TEST_F(remembering_terms, has_the_peer_wait_for_a_message_that_asks_for_it) {
  claims_.begin(tables);
  EXPECT_FALSE(claims_.has_epoch());
  (void)take(true);
  EXPECT_TRUE(claims_.has_epoch());
  EXPECT_TRUE(epochs.change_peer(1, families));
  EXPECT_FALSE(epochs.take_acknowledgement()) << "the message has not left";
  claims_.clear();
  EXPECT_TRUE(epochs.take_acknowledgement());
}

TEST_F(remembering_terms, does_not_mistake_one_link_for_another) {
  (void)take();
  std::atomic<std::uint64_t> other_number{++last_number};
  const std::shared_ptr<const sending_terms> others =
      std::make_shared<sending_terms>(sending_terms{.number = other_number});
  const newest_terms other{.mutex = mutex_, .link = serial + 16, .number = other_number, .terms = others}; // Same slot.
  EXPECT_EQ(&cache_.take(other, claims_, false), others.get());
  EXPECT_EQ(&take(), newest.get());
}

} // namespace
} // namespace troupe::internal

#include <troupe/framework/internal/caf_port/passed_message.hpp>

#include <utility>

#include <caf/detail/dynamic_message_data.hpp>

#include <troupe/framework/internal/caf_port/passing_on.hpp>

namespace troupe::internal {

namespace {

class passed_message final : public caf::mailbox_element {
public:
  passed_message(caf::strong_actor_ptr from, caf::message_id id, caf::message content, receipt owed)
      : caf::mailbox_element(std::move(from), id, {}), owed_(std::move(owed)), content_(std::move(content)) {
    passes_on(this);
  }
  ~passed_message() override { takes_over(this); }

  caf::type_erased_tuple& content() override {
    takes_over(this);
    // Not unshared here: CAF asks `shared()` before it lets a handler change anything.
    return content_.empty() ? nothing_ : const_cast<caf::detail::message_data&>(*content_.cvals());
  }
  const caf::type_erased_tuple& content() const override {
    takes_over(this);
    if (content_.empty())
      return nothing_;
    return *content_.cvals();
  }
  caf::message move_content_to_message() override {
    takes_over(this);
    return std::move(content_);
  }
  caf::message copy_content_to_message() const override {
    takes_over(this);
    return content_;
  }

private:
  const receipt owed_; // Settled when the content is gone.
  caf::message content_;
  caf::detail::dynamic_message_data nothing_;
};

} // namespace

caf::mailbox_element_ptr make_passed_message(caf::strong_actor_ptr sender, caf::message_id id, caf::message content,
                                             receipt owed) {
  return caf::mailbox_element_ptr{new passed_message{std::move(sender), id, std::move(content), std::move(owed)}};
}

} // namespace troupe::internal

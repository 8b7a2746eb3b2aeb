#include <troupe/framework/internal/caf_port/counted_letter.hpp>

#include <utility>

#include <caf/mailbox_element.hpp>

#include <troupe/framework/internal/caf_port/passing_on.hpp>
#include <troupe/framework/message_types.hpp>

namespace troupe::internal {

namespace {

class counted_element final : public caf::mailbox_element {
public:
  counted_element(caf::mailbox_element_ptr message, std::shared_ptr<const void> token)
      : caf::mailbox_element(std::move(message->sender), message->mid, std::move(message->stages)),
        token_(std::move(token)),
        message_(std::move(message)) {}

  caf::type_erased_tuple& content() override {
    takes_over(this);
    return message_->content();
  }
  const caf::type_erased_tuple& content() const override {
    takes_over(this);
    return std::as_const(*message_).content();
  }
  caf::message move_content_to_message() override { return message_->move_content_to_message(); }
  caf::message copy_content_to_message() const override { return message_->copy_content_to_message(); }

private:
  const std::shared_ptr<const void> token_; // Dropped after the message.
  const caf::mailbox_element_ptr message_;
};

} // namespace

void send_counted(const caf::strong_actor_ptr& whom, dead_letter letter, std::shared_ptr<const void> token) {
  auto* made = new counted_element{caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, std::move(letter)),
                                   std::move(token)};
  passes_on(made);
  whom->enqueue(caf::mailbox_element_ptr{made}, nullptr);
}

} // namespace troupe::internal

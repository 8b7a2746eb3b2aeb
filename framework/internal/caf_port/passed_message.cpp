#include <troupe/framework/internal/caf_port/passed_message.hpp>

#include <utility>

#include <caf/detail/message_data.hpp>
#include <caf/type_erased_value.hpp>

#include <troupe/framework/internal/caf_port/passing_on.hpp>

namespace troupe::internal {

namespace {

/// The sender's content together with its receipt. Both end together, wherever the content is passed. An explicit copy
/// owes nothing.
class owed_content final : public caf::detail::message_data {
public:
  owed_content(caf::message content, receipt owed) : owed_(std::move(owed)), content_(std::move(content)) {}
  ~owed_content() override { takes_over(this); }

  owed_content* copy() const override {
    takes_over(this);
    auto copied = content_;
    copied.force_unshare();
    return new owed_content{std::move(copied), {}};
  }
  void* get_mutable(std::size_t pos) override {
    takes_over(this);
    return content_.get_mutable(pos);
  }
  /// CAF checks this before it lets a handler change the content, because the sender may also hold it.
  bool shared() const noexcept override { return !unique() || content_.cvals()->shared(); }
  caf::error load(std::size_t pos, caf::deserializer& from) override { return content_.content().load(pos, from); }
  std::size_t size() const noexcept override { return content_.size(); }
  std::uint32_t type_token() const noexcept override { return content_.type_token(); }
  caf::rtti_pair type(std::size_t pos) const noexcept override { return content_.cvals()->type(pos); }
  const void* get(std::size_t pos) const noexcept override {
    takes_over(this);
    return content_.at(pos);
  }
  std::string stringify(std::size_t pos) const override { return content_.cvals()->stringify(pos); }
  caf::type_erased_value_ptr copy(std::size_t pos) const override {
    takes_over(this);
    return content_.cvals()->copy(pos);
  }
  caf::error save(std::size_t pos, caf::serializer& to) const override { return content_.cvals()->save(pos, to); }

private:
  const receipt owed_; // Settled when the content is gone.
  caf::message content_;
};

} // namespace

caf::mailbox_element_ptr make_passed_message(caf::strong_actor_ptr sender, caf::message_id id, caf::message content,
                                             receipt owed) {
  auto data = caf::make_counted<owed_content>(std::move(content), std::move(owed));
  passes_on(data.get());
  return caf::make_mailbox_element(std::move(sender), id, {},
                                   caf::message{caf::message::data_ptr{data.release(), false}});
}

} // namespace troupe::internal

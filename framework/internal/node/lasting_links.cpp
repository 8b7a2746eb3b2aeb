#include <troupe/framework/internal/node/lasting_links.hpp>

#include <utility>

#include <troupe/framework/internal/node/link_keeper.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

class lasting_link final : public kept_link {
public:
  lasting_link(std::weak_ptr<node_core> node, std::shared_ptr<link_keeper> keeper)
      : node_(std::move(node)), keeper_(std::move(keeper)) {}
  lasting_link(const lasting_link&) = delete;
  lasting_link& operator=(const lasting_link&) = delete;
  ~lasting_link() override { keeper_->stop(); }

  [[nodiscard]] std::expected<void, node_error> begin() override {
    const auto node = node_.lock();
    return node ? node->dials().keep(keeper_) : fail(node_errc::link_down, "the node has ended");
  }
  [[nodiscard]] std::shared_ptr<node_link> current() const override { return keeper_->current(); }
  void stop() override {
    keeper_->close_with(); // Also a link that opens now.
    keeper_->stop();
  }

private:
  const std::weak_ptr<node_core> node_;
  const std::shared_ptr<link_keeper> keeper_;
};

} // namespace

keep_link_function lasting_links_of(std::weak_ptr<node_core> node) {
  return [weak = std::move(node)](const dial_terms& to,
                                  kept_link_events events) -> std::expected<std::shared_ptr<kept_link>, node_error> {
    auto strong = weak.lock();
    if (!strong)
      return fail(node_errc::link_down, "the node has ended");
    auto keeper = link_keeper::make(std::move(strong), to.address, to.options, to.policy,
                                    {.callback = [events = std::move(events)](const link_event& event) {
                                      using kind = link_event::kind;
                                      if (event.what == kind::connected)
                                        events.opened();
                                      else if (event.what == kind::given_up)
                                        events.given_up(event.reason);
                                      else
                                        events.failed(event.reason);
                                    }});
    if (!keeper)
      return std::unexpected{std::move(keeper).error()};
    return std::make_shared<lasting_link>(weak, *std::move(keeper));
  };
}

} // namespace troupe::internal

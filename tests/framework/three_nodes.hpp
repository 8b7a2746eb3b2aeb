// Three nodes in a row: near - far - third. Near reaches third only through far.
#pragma once

#include "two_nodes.hpp"

namespace troupe::tests {

class three_nodes : public two_nodes {
protected:
  ~three_nodes() override { beyond_.reset(); }

  side& third() {
    if (!third_)
      third_ = std::make_unique<side>(third_options_, third_types_, more_families_);
    return *third_;
  }

  /// Links far to third, and near to far.
  void connect_all(const link_options& near_to_far = {}, const link_options& far_to_third = {}) {
    third();
    auto connected = far().home->connect(third_address_, far_to_third);
    if (!connected)
      throw std::runtime_error(connected.error().message());
    beyond_.emplace(*std::move(connected));
    connect(near_to_far);
  }

  /// Publishes `actor` on third. Far finds it and publishes it again. Returns the handle that near finds on far.
  template <class Handle = caf::actor>
  Handle find_beyond(const std::string& name, const Handle& actor) {
    if (auto published = third().home->publish(name, actor); !published)
      throw std::runtime_error(published.error().message());
    auto at_far = beyond_->find<Handle>(name);
    if (!at_far)
      throw std::runtime_error(at_far.error().message());
    if (auto published = far().home->publish(name, *at_far); !published)
      throw std::runtime_error(published.error().message());
    auto at_near = link_->find<Handle>(name);
    if (!at_near)
      throw std::runtime_error(at_near.error().message());
    return *at_near;
  }

  /// Counts the messages that far has forwarded without decoding them.
  [[nodiscard]] std::uint64_t forwarded() {
    std::uint64_t sum = 0;
    for (const auto& each : far().home->links())
      sum += each.stats().forwarded;
    return sum;
  }

  std::string third_address_ = "unix://@" + unique_name("troupe-test");
  std::function<void(type_registry&)> third_types_;
  node_options third_options_{
      .name = "third", .listen = {third_address_}, .store = store::options{.name = store_, .capacity_bytes = 64_MiB}};
  std::unique_ptr<side> third_;
  std::optional<link> beyond_; // Far's link to third.
};

} // namespace troupe::tests

#include "second_copy.hpp"

#include <troupe/store/object_store.hpp>

#include <map>
#include <span>
#include <vector>

namespace second_copy {

namespace {

namespace library = troupe::store; // A macro: the second copy's own namespace.

class opened final : public store {
public:
  explicit opened(library::object_store opening) : store_(std::move(opening)) {}

  std::uint64_t number() const override { return store_.number(); }
  std::uint32_t slot() const override { return store_.self().slot; }

  std::string put(const std::string& text) override {
    auto made = store_.put(std::as_bytes(std::span{text}));
    if (!made)
      return made.error().message();
    held_.push_back(*std::move(made));
    return to_string(held_.back().id());
  }

  std::string read(const std::string& id) override {
    const auto summary = store_.summary();
    if (!summary)
      return summary.error().message();
    for (const auto& row : summary->rows)
      if (to_string(row.id) == id)
        if (const auto object = store_.find(row.id))
          if (const auto view = object->pin())
            return {reinterpret_cast<const char*>(view->bytes().data()), view->bytes().size()};
    return "not found";
  }

private:
  library::object_store store_;
  std::vector<library::handle> held_;
};

} // namespace

std::unique_ptr<store> open(const std::string& name) {
  auto settings = library::options{};
  settings.name = name;
  settings.reap_interval = std::chrono::milliseconds{0};
  auto made = library::object_store::open(settings);
  if (!made)
    return nullptr;
  return std::make_unique<opened>(*std::move(made));
}

} // namespace second_copy

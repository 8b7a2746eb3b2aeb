// A family whose frames have an owner class of the library, and a family that throws an exception type of the library.
#include <stdexcept>

#include "named_family.hpp"

namespace {

struct text_owner final : troupe::frame_owner {
  const std::string text = "made by the library";
};

struct keeping_family final : named_family {
  keeping_family() : named_family("keeping") {}
  std::expected<void, troupe::serialize_error> encode(const troupe::type_entry& entry, const void* value,
                                                      const troupe::context& ctx,
                                                      troupe::encode_output& output) const override {
    const auto owner = std::make_shared<const text_owner>();
    output.attach(troupe::frame(std::as_bytes(std::span(owner->text)), owner));
    return named_family::encode(entry, value, ctx, output);
  }
};

struct refusal final : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct refusing_family final : named_family {
  refusing_family() : named_family("refusing") {}
  std::expected<void, troupe::serialize_error> encode(const troupe::type_entry&, const void*, const troupe::context&,
                                                      troupe::encode_output&) const override {
    throw refusal("not today");
  }
};

} // namespace

TROUPE_FAMILIES([](troupe::family_set& families) {
  families.add(std::make_unique<keeping_family>()).add(std::make_unique<refusing_family>());
})

#include "serializers/coders.hpp"

#include "serializers/link_coding.hpp"

#include <troupe/serializers/cereal/cereal_family.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>
#include <troupe/serializers/serialize.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace bench {

namespace {

class payload_coder final : public coder {
public:
  explicit payload_coder(const std::string& family) {
    troupe::add_cereal<sample>(types_, "bench.sample");
    (void)families_.add(std::make_unique<troupe::cereal_family>());
    encoding_.serializers = {family};
    encoding_.on_error = troupe::on_error::raise;
    decoding_.deserializers = {family};
  }

  bool encode(const sample& value) override {
    auto made = troupe::serialize(value, encoding_, types_, families_);
    if (made)
      payload_ = *std::move(made);
    return made.has_value();
  }

  bool decode(sample& value) override {
    auto read = troupe::deserialize<sample>(payload_, decoding_, types_, families_);
    if (read)
      value = *std::move(read);
    return read.has_value();
  }

  [[nodiscard]] std::size_t size_bytes() const override { return payload_.size_bytes(); }

private:
  troupe::type_registry types_;
  troupe::family_set families_;
  troupe::serialize_options encoding_;
  troupe::deserialize_options decoding_;
  troupe::payload payload_;
};

class troupe_link_coder final : public coder {
public:
  explicit troupe_link_coder(const std::string& family) : coding_("bench.sample", family) {}

  bool encode(const sample& value) override { return coding_.encode(value); }
  bool decode(sample& value) override { return coding_.decode(value); }
  [[nodiscard]] std::size_t size_bytes() const override { return coding_.size_bytes(); }

private:
  link_coding<sample> coding_;
};

const std::vector<std::pair<std::string, std::function<coder_ptr()>>>& all_coders() {
  static const std::vector<std::pair<std::string, std::function<coder_ptr()>>> all{
      {"troupe-typed", [] { return make_link_coder("typed"); }},
      {"troupe-msgpack", [] { return make_link_coder("msgpack"); }},
      {"troupe-json", [] { return make_link_coder("json"); }},
      {"payload-typed", [] { return make_payload_coder("typed"); }},
      {"payload-msgpack", [] { return make_payload_coder("msgpack"); }},
      {"payload-cereal", [] { return make_payload_coder("cereal"); }},
      {"cereal", make_cereal_coder},
      {"msgpack-by-hand", make_msgpack_coder},
      {"protobuf", make_protobuf_coder},
      {"caf-binary", make_caf_coder},
  };
  return all;
}

} // namespace

coder_ptr make_link_coder(const std::string& family) {
  return std::make_unique<troupe_link_coder>(family);
}

coder_ptr make_payload_coder(const std::string& family) {
  return std::make_unique<payload_coder>(family);
}

const std::vector<std::string>& coder_names() {
  static const auto names = [] {
    std::vector<std::string> all;
    for (const auto& [name, make] : all_coders())
      all.push_back(name);
    return all;
  }();
  return names;
}

coder_ptr make_coder(const std::string& name) {
  const auto found = std::ranges::find(all_coders(), name, &std::pair<std::string, std::function<coder_ptr()>>::first);
  return found == all_coders().end() ? nullptr : found->second();
}

} // namespace bench

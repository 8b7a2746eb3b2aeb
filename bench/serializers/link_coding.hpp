// Encodes and decodes values of one type as links do.
#pragma once

#include <troupe/serializers/serialize.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// Reuses its buffer, and uses a header that both ends already know.
template <class T>
class link_coding {
public:
  link_coding(std::string alias, std::string_view family) {
    types_.add<T>(std::move(alias));
    entry_ = types_.find<T>();
    used_ = {families_.find(family)};
    header_ = troupe::standard_header(*used_[0], *entry_);
    fields_ = *troupe::parse_header(header_.bytes());
  }
  link_coding(const link_coding&) = delete;
  link_coding& operator=(const link_coding&) = delete;

  [[nodiscard]] bool encode(const T& value) {
    return troupe::encode_value(*entry_, &value, used_, context_, output_).has_value();
  }
  /// Requires: encode() was called before.
  [[nodiscard]] bool decode(T& into) {
    const troupe::frame body{output_.body().bytes(), nullptr};
    return troupe::decode_value(*entry_, &into, *used_[0], fields_, std::span{&body, 1}, context_).has_value();
  }
  [[nodiscard]] std::size_t size_bytes() const { return output_.body().size(); }

private:
  troupe::type_registry types_;
  troupe::family_set families_;
  const troupe::type_entry* entry_ = nullptr;
  std::vector<const troupe::family*> used_;
  troupe::frame header_;
  troupe::header_fields fields_;
  troupe::context context_;
  troupe::encode_output output_;
};

} // namespace bench

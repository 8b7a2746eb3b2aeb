// A family for the libraries that family_library.test.cpp loads: msgpack by another name.
#pragma once

#include <string>

#include <troupe/serializers/extend/family_library.hpp>
#include <troupe/serializers/extend/visitor_family.hpp>
#include <troupe/serializers/msgpack/msgpack_coder.hpp>

struct named_family : troupe::visitor_family<troupe::msgpack_writer, troupe::msgpack_reader> {
  explicit named_family(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }

private:
  std::string name_;
};

#include <troupe/serializers/internal/type_text.hpp>

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace troupe::detail {

namespace {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

} // namespace

std::string type_text(const std::type_info& type) {
  return demangled(type.name());
}

std::string type_text(std::type_index type) {
  return demangled(type.name());
}

} // namespace troupe::detail

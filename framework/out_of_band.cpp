#include <troupe/framework/out_of_band.hpp>

#include <troupe/framework/internal/objects/out_of_band.hpp>
#include <troupe/framework/node.hpp>

namespace troupe {

allow_out_of_band_handles::allow_out_of_band_handles(const node& of, const std::source_location& where) {
  internal::push_out_of_band_guard(of.store() != nullptr ? of.store()->number() : 0, where);
}

allow_out_of_band_handles::~allow_out_of_band_handles() {
  internal::pop_out_of_band_guard();
}

} // namespace troupe

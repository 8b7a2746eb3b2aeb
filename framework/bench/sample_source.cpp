#include <troupe/framework/bench/sample_source.hpp>

namespace troupe::bench::detail {

sample_source::~sample_source() = default;

} // namespace troupe::bench::detail

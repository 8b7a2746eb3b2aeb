// A store for the processes of one run.
#pragma once

#include <troupe/store/object_store.hpp>

#include <cstddef>
#include <expected>
#include <string>

namespace bench {

/// In the process that measures: a store with room for several values of `largest_bytes`, for the processes that it
/// starts. They attach to it, so that it is gone when this process lets go of it, however they end.
[[nodiscard]] std::expected<troupe::store::object_store, std::string> make_store_of_this_run(std::size_t largest_bytes);

/// As a process that was started finds it.
[[nodiscard]] troupe::store::options inherited_store();

} // namespace bench

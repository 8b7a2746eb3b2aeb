// A store for the processes of one run.
#pragma once

#include <troupe/store/object_store.hpp>

#include <cstddef>
#include <expected>
#include <string>

namespace bench {

/// For the measuring process: creates a store with room for several values of `largest_bytes`, to which the started
/// processes attach. The store is removed when this process releases it, however the other processes end.
[[nodiscard]] std::expected<troupe::store::object_store, std::string> make_store_of_this_run(std::size_t largest_bytes);

/// For a started process: the options of that store.
[[nodiscard]] troupe::store::options inherited_store();

} // namespace bench

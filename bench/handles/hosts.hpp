// The "hosts" of a run are stores of different names. Processes with the same name share a store, others do not.
#pragma once

#include <troupe/store/object_store.hpp>

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace bench {

/// For the measuring process: creates the stores of `count` hosts, to which the started processes attach. The stores
/// are removed when this process releases them, however the other processes end.
[[nodiscard]] std::expected<std::vector<troupe::store::object_store>, std::string>
make_hosts_of_this_run(std::size_t count, std::size_t capacity_bytes);

/// For a started process: the options of one host's store, counting from 0.
[[nodiscard]] troupe::store::options inherited_host(std::size_t number);

/// Writes to all of the store's memory through this process's own pages, because the first use of a page costs more
/// than everything measured here. Requires: the store is empty.
void use_all_memory(troupe::store::object_store store);

} // namespace bench

// "Hosts" of a run: stores of different names, so that processes with the same one share it and others do not.
#pragma once

#include <troupe/store/object_store.hpp>

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace bench {

/// In the process that measures: the stores of so many hosts, for the processes that it starts. They attach to them, so
/// that they are gone when this process lets go of them, however those end.
[[nodiscard]] std::expected<std::vector<troupe::store::object_store>, std::string>
make_hosts_of_this_run(std::size_t count, std::size_t capacity_bytes);

/// The store of one of them, counting from 0, as a process that was started finds it.
[[nodiscard]] troupe::store::options inherited_host(std::size_t number);

/// Writes to all of the store's memory, through this process's own pages: the first use of a page costs more than all
/// that is measured here. Requires: nothing else is in it.
void use_all_memory(troupe::store::object_store store);

} // namespace bench

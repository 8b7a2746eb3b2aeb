// Names of store/ for headers that only mention them.
#pragma once

#include <memory>

namespace troupe::store {

struct object_id;
struct options;
struct process_id;
struct store_summary;

class builder;
class handle;
class object_store;
class pin;

namespace internal {

class attachment;

/// Shared by every store, handle, pin and builder of one process and one store; the last one detaches.
using attachment_ptr = std::shared_ptr<attachment>;

/// Keeps the file of one object mapped; points to its first byte.
using mapping_ptr = std::shared_ptr<const void>;

} // namespace internal

} // namespace troupe::store

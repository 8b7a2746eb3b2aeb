// Forward declarations of framework/.
#pragma once

namespace troupe {

class reconnecting_link;
class link;
class node;
struct link_event;
struct link_events;
struct link_options;
struct link_stats;
struct node_options;
struct node_stats;
class weak_node;
struct reconnect_policy;
template <class T>
class object_ref;
template <auto Function>
struct registered_function;
template <class Handle>
class spawn_request;
class system_config;

namespace internal {

class configuration;
class node_link;
class link_keeper;
class node_core;
class worker_core;
struct object_state;

} // namespace internal
} // namespace troupe

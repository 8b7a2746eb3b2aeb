// Forward declarations of framework/.
#pragma once

namespace troupe {

class kept_link;
class link;
class node;
struct link_event;
struct link_events;
struct link_options;
struct link_stats;
struct node_options;
struct node_stats;
class node_view;
struct reconnect_policy;
template <class T>
class object_ref;
template <auto Function>
struct function_ref;
template <class Handle>
class spawning;
class system_config;

namespace internal {

class configuration;
class node_link;
class link_keeper;
class node_core;
struct object_state;

} // namespace internal
} // namespace troupe

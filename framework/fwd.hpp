// Forward declarations of framework/.
#pragma once

namespace troupe {

class link;
class node;
struct link_options;
struct link_stats;
struct node_options;
template <class T>
class object_ref;
template <auto Function>
struct function_ref;

namespace internal {

class link_core;
class node_core;
struct object_state;

} // namespace internal
} // namespace troupe

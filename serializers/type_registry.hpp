// The types that a node can send and receive, by alias: the declarations of type_entry.hpp, and the templates that are
// instantiated when a type is registered.
#pragma once

#include <troupe/serializers/internal/registry/registering.hpp>
#include <troupe/serializers/type_entry.hpp>

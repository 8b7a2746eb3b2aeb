// The types that a node can send and receive, by alias: what type_entry.hpp declares, with all that registering a type
// instantiates for it.
#pragma once

#include <troupe/serializers/internal/registry/registering.hpp>
#include <troupe/serializers/type_entry.hpp>

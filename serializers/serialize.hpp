// serialize() and deserialize(): values to payloads and back, by lists of family names.
#pragma once

#include <troupe/serializers/serialize_calls.hpp>
#include <troupe/serializers/type_registry.hpp>

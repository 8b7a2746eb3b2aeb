#pragma once

// The headers that the guide's text names and that its snippets need.

#include <iostream>

#include <troupe/framework/caf_family/caf_family.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/serializers/cereal/cereal_family.hpp>

using namespace std::chrono_literals;

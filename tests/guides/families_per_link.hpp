#pragma once

// What the guide's snippets take for granted: the headers that its text names.

#include <iostream>

#include <troupe/framework/caf_family/caf_family.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/serializers/cereal/cereal_family.hpp>

using namespace std::chrono_literals;

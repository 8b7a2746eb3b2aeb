// Renders messages as text, for the story of a failed run.
#pragma once

#include <string>

#include "world.hpp"

namespace troupe::simulation {

[[nodiscard]] std::string text_of(const handles::message& what);
[[nodiscard]] std::string text_of(const parcel& what);
[[nodiscard]] std::string text_of(const packet& what);

} // namespace troupe::simulation

// Troupe's version. CMake reads it from here.
#pragma once

#define TROUPE_VERSION "0.1.0"

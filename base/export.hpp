// Which symbols the shared libraries export.
#pragma once

/// Marks a class or function that an installed header declares and a source file defines, so that programs can call it
/// if Troupe is a shared library. All other symbols of the libraries are hidden. Templates and inline functions need no
/// mark.
#define TROUPE_EXPORT [[gnu::visibility("default")]]

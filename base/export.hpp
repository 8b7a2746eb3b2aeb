// Which names the shared libraries show.
#pragma once

/// Before a class or a function that stands in an installed header and is defined in a source: programs may call it
/// when Troupe is a shared library. All other names of the libraries are hidden. Templates and inline functions need
/// none.
#define TROUPE_EXPORT [[gnu::visibility("default")]]

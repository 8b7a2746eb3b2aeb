// Sockets that the child of a fork does not keep. Otherwise the peers of a process that died would not be told while a
// child of it lives, and nobody else could listen at its addresses.
#pragma once

namespace troupe::internal {

/// As socket(2) and accept4(2), of a socket that is closed in the child of a fork, before fork() returns there. Its
/// number stays taken in the child by an open /dev/null, so that a copy of the socket's owner does not close, or shut
/// down, what the child opens later.
///
/// Threads: any. To be closed as any socket. Not noticed: a raw clone system call. Closed by exec anyway.
[[nodiscard]] int make_own_socket(int domain, int type, int protocol);
[[nodiscard]] int accept_own_socket(int listening);

} // namespace troupe::internal

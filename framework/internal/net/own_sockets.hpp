// Sockets that the child of a fork does not inherit. Otherwise, while a child lives, the peers of a process that died
// would not be notified, and nobody could listen at its addresses.
#pragma once

namespace troupe::internal {

/// Like socket(2) and accept4(2), but the socket is closed in the child of a fork before fork() returns there. In the
/// child an open /dev/null occupies its number, so that a copy of the socket's owner does not close or shut down a
/// descriptor that the child opens later.
///
/// Threads: any. Closed like any socket. Not noticed: a raw clone system call. Also closed by exec.
[[nodiscard]] int make_own_socket(int domain, int type, int protocol);
[[nodiscard]] int accept_own_socket(int listening);

} // namespace troupe::internal

// Sockets that the child of a fork does not inherit. If a child inherited them, the peers of a process that died would
// not be notified while the child lives, and no process could listen at its addresses.
#pragma once

namespace troupe::internal {

/// Like socket(2) and accept4(2), but in the child of a fork the socket is closed before fork() returns. There an open
/// /dev/null occupies its number. So a copy of the socket's owner does not close or shut down a descriptor that the
/// child opens later.
///
/// Threads: any. The socket is closed like any other, and also by exec. A raw clone system call goes unnoticed.
[[nodiscard]] int make_own_socket(int domain, int type, int protocol);
[[nodiscard]] int accept_own_socket(int listening);

/// Makes two connected unix stream sockets. Only the first is closed in the child of a fork: the second is for another
/// program. Both are closed by exec. Returns false if the system has none.
[[nodiscard]] bool make_own_socket_pair(int (&ends)[2]);
/// From now on treats a socket that this process inherited like its own, also at exec.
void adopt_own_socket(int socket);

} // namespace troupe::internal

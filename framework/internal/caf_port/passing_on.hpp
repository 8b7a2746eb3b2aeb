// Messages change threads inside CAF's mailboxes, whose library is not instrumented. These functions tell
// ThreadSanitizer what the mailbox guarantees. Without ThreadSanitizer they do nothing.
#pragma once

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void* at);
extern "C" void __tsan_release(void* at);
#endif

namespace troupe::internal {

/// The thread that takes `message` over sees all writes of this thread before the call.
inline void passes_on([[maybe_unused]] const void* message) {
#ifdef __SANITIZE_THREAD__
  __tsan_release(const_cast<void*>(message));
#endif
}

inline void takes_over([[maybe_unused]] const void* message) {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(const_cast<void*>(message));
#endif
}

} // namespace troupe::internal

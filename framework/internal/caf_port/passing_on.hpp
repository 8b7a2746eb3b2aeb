// Messages change threads inside CAF's mailboxes, whose library is not instrumented: here ThreadSanitizer is told what
// the mailbox guarantees. Nothing without it.
#pragma once

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void* at);
extern "C" void __tsan_release(void* at);
#endif

namespace troupe::internal {

/// All that this thread has done so far is seen by whoever takes `message` over.
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

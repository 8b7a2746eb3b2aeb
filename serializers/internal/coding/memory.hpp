// Memory for values that are constructed later.
#pragma once

#include <cstddef>
#include <new>

namespace troupe::detail {

/// Memory for a T, allocated as `new T` does and released as `delete` does.
template <class T>
struct new_memory {
  static constexpr bool is_wide = alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  static void* allocate() {
    if constexpr (is_wide && requires { T::operator new (sizeof(T), std::align_val_t{alignof(T)}); })
      return T::operator new (sizeof(T), std::align_val_t{alignof(T)});
    else if constexpr (requires { T::operator new(sizeof(T)); })
      return T::operator new(sizeof(T));
    else if constexpr (is_wide)
      return ::operator new (sizeof(T), std::align_val_t{alignof(T)});
    else
      return ::operator new(sizeof(T));
  }
  static void release(void* memory) {
    if constexpr (is_wide && requires { T::operator delete (memory, std::align_val_t{alignof(T)}); })
      T::operator delete (memory, std::align_val_t{alignof(T)});
    else if constexpr (is_wide && requires { T::operator delete (memory, sizeof(T), std::align_val_t{alignof(T)}); })
      T::operator delete (memory, sizeof(T), std::align_val_t{alignof(T)});
    else if constexpr (requires { T::operator delete(memory); })
      T::operator delete(memory);
    else if constexpr (requires { T::operator delete(memory, sizeof(T)); })
      T::operator delete(memory, sizeof(T));
    else if constexpr (is_wide)
      ::operator delete (memory, std::align_val_t{alignof(T)});
    else
      ::operator delete(memory);
  }
};

/// Uninitialized memory for a T. `read` constructs a T in it.
template <class T>
union memory_for {
  memory_for() {}
  ~memory_for() {}
  T value;
};

template <class T>
inline constexpr bool is_memory = false;
template <class T>
inline constexpr bool is_memory<memory_for<T>> = true;

} // namespace troupe::detail

// The macros to which the macros of describe.hpp expand.
#pragma once

// For an error, g++ prints each macro that led to it, and a misspelled field passes through about 300 of these macros.
// g++ leaves out macros of system headers. This header must hold macros only, because system headers get no warnings
// either.
#pragma GCC system_header

#define TROUPE_DETAIL_BASES(...) ::troupe::bases<__VA_ARGS__>
#define TROUPE_DETAIL_DESCRIPTION(Type, Bases, ...)                                                                    \
  ::troupe::description<Type, Bases __VA_OPT__(TROUPE_DETAIL_EACH(TROUPE_DETAIL_MEMBER, Type, __VA_ARGS__))> {         \
#Type, {                                                                                                           \
      __VA_OPT__(TROUPE_DETAIL_EACH(TROUPE_DETAIL_NAME, Type, __VA_ARGS__))                                            \
    }                                                                                                                  \
  }
#define TROUPE_DETAIL_ENUM_DESCRIPTION(Type, ...)                                                                      \
  ::troupe::enum_description<Type __VA_OPT__(TROUPE_DETAIL_EACH(TROUPE_DETAIL_VALUE, Type, __VA_ARGS__))> {            \
#Type, {                                                                                                           \
      __VA_OPT__(TROUPE_DETAIL_EACH(TROUPE_DETAIL_NAME, Type, __VA_ARGS__))                                            \
    }                                                                                                                  \
  }
#define TROUPE_DETAIL_MEMBER(Type, Name) , &Type::Name
#define TROUPE_DETAIL_VALUE(Type, Name) , Type::Name
#define TROUPE_DETAIL_NAME(Type, Name) #Name,

// Applies `macro(Type, x)` to each of up to 340 arguments. Each level of expansion rescans four times.
#define TROUPE_DETAIL_EACH(macro, Type, ...)                                                                           \
  __VA_OPT__(TROUPE_DETAIL_SCAN_4(TROUPE_DETAIL_STEP(macro, Type, __VA_ARGS__)))
#define TROUPE_DETAIL_STEP(macro, Type, first, ...)                                                                    \
  macro(Type, first) __VA_OPT__(TROUPE_DETAIL_AGAIN TROUPE_DETAIL_PARENS(macro, Type, __VA_ARGS__))
#define TROUPE_DETAIL_AGAIN() TROUPE_DETAIL_STEP
#define TROUPE_DETAIL_PARENS ()
#define TROUPE_DETAIL_SCAN_4(...)                                                                                      \
  TROUPE_DETAIL_SCAN_3(TROUPE_DETAIL_SCAN_3(TROUPE_DETAIL_SCAN_3(TROUPE_DETAIL_SCAN_3(__VA_ARGS__))))
#define TROUPE_DETAIL_SCAN_3(...)                                                                                      \
  TROUPE_DETAIL_SCAN_2(TROUPE_DETAIL_SCAN_2(TROUPE_DETAIL_SCAN_2(TROUPE_DETAIL_SCAN_2(__VA_ARGS__))))
#define TROUPE_DETAIL_SCAN_2(...)                                                                                      \
  TROUPE_DETAIL_SCAN_1(TROUPE_DETAIL_SCAN_1(TROUPE_DETAIL_SCAN_1(TROUPE_DETAIL_SCAN_1(__VA_ARGS__))))
#define TROUPE_DETAIL_SCAN_1(...)                                                                                      \
  TROUPE_DETAIL_SCAN_0(TROUPE_DETAIL_SCAN_0(TROUPE_DETAIL_SCAN_0(TROUPE_DETAIL_SCAN_0(__VA_ARGS__))))
#define TROUPE_DETAIL_SCAN_0(...) __VA_ARGS__

// A library without TROUPE_FAMILIES.
extern "C" int troupe_silent() {
  return 1;
}

// Must not compile: the description leaves a field out.
#include <string>

#include <troupe/serializers/serializable.hpp>

struct reading {
  std::string sensor;
  double celsius;
};
TROUPE_DESCRIBE(reading, sensor)

constexpr auto fields = troupe::fields_of<reading>::count;

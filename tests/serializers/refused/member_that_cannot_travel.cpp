// Must not compile, and the compiler must name the member: a mutex, two types further down.
#include <mutex>
#include <string>
#include <vector>

#include <troupe/serializers/serializable.hpp>
#include <troupe/serializers/typed/typed_family.hpp>

struct item {
  std::string name;
  std::mutex lock;
};
TROUPE_DESCRIBE(item, name, lock)

struct batch {
  std::vector<item> items;
};
TROUPE_DESCRIBE(batch, items)

void publish(const troupe::serializable<troupe::typed_family> auto&) {}

void publish_a_batch(const batch& value) {
  publish(value);
}

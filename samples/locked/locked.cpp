// A type that contains a lock cannot travel. Shows the error with this reason, four ways to send the content of the
// type nevertheless, and how deregistering ends one of them. README.md shows the output.
#include <iostream>
#include <mutex>
#include <stdexcept>

#include <unistd.h>

#include <troupe/serializers/inspect.hpp>
#include <troupe/troupe.hpp>

/// A plain description that includes the lock.
struct naive_tally {
  int count = 0;
  std::mutex lock;
};
TROUPE_DESCRIBE(naive_tally, count, lock)

/// A class from a library, which cannot be changed.
class tally {
public:
  explicit tally(int count = 0) : count_(count) {}
  tally(const tally& other) : count_(other.count()) {}
  tally& operator=(const tally& other) {
    const auto count = other.count();
    const std::scoped_lock guard(lock_);
    count_ = count;
    return *this;
  }
  void add(int more) {
    const std::scoped_lock guard(lock_);
    count_ += more;
  }
  int count() const {
    const std::scoped_lock guard(lock_);
    return count_;
  }

private:
  mutable std::mutex lock_;
  int count_;
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tally)

/// For your own types: `reduce` returns the part that travels, and `rebuild` makes a new object with its own lock.
class own_tally : public tally {
public:
  using tally::tally;
  std::tuple<int> reduce() const { return {count()}; }
  static own_tally rebuild(int count) { return own_tally(count); }
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(own_tally)

/// For one object: the message carries a helper that refers to it. Tallies without the helper still cannot travel.
struct count_of {
  const tally* of = nullptr;
  int count = 0;
  std::tuple<int> reduce() const { return {of != nullptr ? of->count() : count}; }
  static count_of rebuild(int count) { return {nullptr, count}; }
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(count_of)

/// For shared use: an actor keeps the object, and its handle travels. Every holder of the handle works with the one
/// object.
caf::behavior keeper(caf::event_based_actor*, std::shared_ptr<tally> kept) {
  return {[kept](int more) {
    kept->add(more);
    return kept->count();
  }};
}

/// Answers with the count that arrived. Given a keeper, adds 10 through it.
caf::behavior reader(caf::event_based_actor* self) {
  return {[](const tally& arrived) { return arrived.count(); },
          [](const own_tally& arrived) { return arrived.count(); },
          [](const count_of& arrived) { return arrived.count; },
          [self](const caf::actor& with) { return self->delegate(with, 10); }};
}

int main() try {
  troupe::type_registry types;
  types.add<tally>("locked.tally").add<own_tally>("locked.own_tally").add<count_of>("locked.count_of");
  troupe::family_set families;
  std::cout << troupe::inspect_serializability<naive_tally>(types, families).to_text() << '\n'
            << troupe::inspect_serializability<tally>(types, families).to_text() << '\n';

  troupe::system_config far_config, near_config;
  caf::actor_system far_system{far_config}, near_system{near_config};
  const auto address = "unix://@locked-" + std::to_string(getpid());
  auto far = troupe::value_or_throw(
      troupe::node::open(far_system, types, families, {.name = "far", .listen = {address}, .store = {}}));
  troupe::value_or_throw(far.publish("reader", far_system.spawn(reader)));
  auto near = troupe::value_or_throw(troupe::node::open(near_system, types, families, {.name = "near", .store = {}}));
  auto link = troupe::value_or_throw(near.connect(address));
  const auto remote_reader = troupe::value_or_throw(link.find("reader"));
  caf::scoped_actor self{near_system};
  const auto send = [&](std::string_view what, const auto& sent) {
    self->request(remote_reader, std::chrono::seconds(5), sent)
        .receive([&](int count) { std::cout << what << ": " << count << '\n'; },
                 [&](const caf::error& error) { std::cout << what << ": " << troupe::text_of(error) << '\n'; });
  };

  const auto jars = std::make_shared<tally>(7);
  send("as it is", *jars);
  send("with reduce and rebuild", own_tally(7));
  send("in a helper", count_of{jars.get()});
  types.register_serializer<tally>([](const tally& from) { return from.count(); },
                                   [](int count) { return tally(count); });
  send("registered", *jars);
  types.deregister_serializer<tally>();
  send("deregistered", *jars);
  send("through its keeper", near_system.spawn(keeper, jars));
  std::cout << "here, afterwards: " << jars->count() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

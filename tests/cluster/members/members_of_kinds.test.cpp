// All kinds of directories that this folder knows pass the suite of directories of members.
#include "../directory_words.hpp"
#include "../dns/fake_dns_server.hpp"
#include "../host/temporary_state.hpp"
#include "members_conformance.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace troupe::tests {

namespace {

class fixed_place final : public members_place {
public:
  void set(const std::vector<std::string>& members) override {
    {
      std::ofstream next{state_.path() / "next"};
      for (const auto& member : members)
        next << member << '\n';
    }
    std::filesystem::rename(state_.path() / "next", state_.path() / "members");
  }
  [[nodiscard]] std::string address() const override { return "static://" + (state_.path() / "members").string(); }

private:
  temporary_state state_;
};

/// With address records: the members must have one port.
class dns_place final : public members_place {
public:
  void set(const std::vector<std::string>& members) override {
    std::vector<std::string> hosts;
    for (const auto& member : members)
      hosts.push_back(member.substr(6, member.rfind(':') - 6)); // Between tcp:// and the port.
    server_.set_addresses("shop.test", hosts);
  }
  [[nodiscard]] std::string address() const override { return "dns://shop.test:4000"; }
  [[nodiscard]] directory_options options() const override { return {.name_servers = server_.address()}; }

private:
  fake_dns_server server_;
};

/// Another client writes the entries that a read-only directory would make.
class host_members_place final : public members_place {
public:
  void set(const std::vector<std::string>& members) override {
    if (!writer_)
      writer_ = must(open_directory(address(), {}));
    const auto listing = must(writer_->list("members/"));
    for (const auto& entry : listing.entries)
      if (std::ranges::find(members, entry.key.substr(8)) == members.end())
        remove(*writer_, entry.key);
    for (const auto& member : members)
      if (keys_below(*writer_, "members/" + member).empty())
        put(*writer_, "members/" + member, R"({"addresses":[")" + member + R"("]})");
  }
  [[nodiscard]] std::string address() const override { return "host://members"; }

private:
  temporary_state state_;
  std::shared_ptr<directory> writer_;
};

template <class Place>
members_maker maker_of(std::string name, bool is_writable = false) {
  return {.name = std::move(name), .make = [] { return std::make_unique<Place>(); }, .is_writable = is_writable};
}

INSTANTIATE_TEST_SUITE_P(kinds, directory_of_members,
                         ::testing::Values(maker_of<fixed_place>("fixed"), maker_of<dns_place>("dns"),
                                           maker_of<host_members_place>("host", true)),
                         name_of_members_maker);

} // namespace

} // namespace troupe::tests

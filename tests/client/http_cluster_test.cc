// The embedded cluster, over its own TLS: discovery, a list in pages, and a watch.
#include <gtest/gtest.h>

#include <utility>

#include "client/api_server.h"
#include "client/discovery.h"
#include "client/metadata_stream.h"
#include "kube/encoding.h"
#include "tests/client/asking.h"
#include "tests/simulator/wire.h"

namespace lastout::client {
namespace {

using lastout::testing::get;
using lastout::testing::serverAt;
using lastout::testing::WireTest;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

class HttpClusterTest : public WireTest {
 protected:
  HttpClusterTest() {
    HttpOptions options;
    options.host = "127.0.0.1";
    options.port = static_cast<uint16_t>(port);
    options.authorities = authority.certificate;
    options.clientCertificate = admin.certificate;
    options.clientKey = admin.key;
    server_ = serverAt(options);
  }

  void createMap(const std::string& name) {
    create(kMaps, {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}});
  }

  // Adds the names that begin with "map-" to `names`.
  ListEnd list(const std::string& query, std::vector<std::string>& names) {
    ListStream stream(Content::Metadata, [&](const StreamedObject& object) {
      EXPECT_EQ(object.kind, "PartialObjectMetadata");
      if (object.meta.name.starts_with("map-")) names.push_back(object.meta.name);
    });
    ApiRequest request = get(kMaps + query);
    request.accept = kAcceptMetadataList;
    const auto answer = server_->exchange(request, [&](int, std::string_view piece) {
      const auto pushed = stream.push(piece);
      EXPECT_TRUE(pushed) << pushed.error().message;
      return pushed.has_value();
    });
    EXPECT_TRUE(answer) << answer.error().message;
    return stream.finish().value();
  }

  std::unique_ptr<HttpApiServer> server_;
};

TEST_F(HttpClusterTest, IsDiscovered) {
  const auto found = discover(*server_);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->gaps.empty());
  EXPECT_TRUE(found->find({"apps", "deployments"})->canWatch);
  EXPECT_EQ(found->find({"work.open-cluster-management.io", "manifestworks"})->type.kind, "ManifestWork");
}

TEST_F(HttpClusterTest, IsListedInPages) {
  for (int i = 0; i < 7; ++i) createMap("map-" + std::to_string(i));
  std::vector<std::string> all;
  const ListEnd whole = list("", all);
  EXPECT_EQ(all.size(), 7U);
  EXPECT_FALSE(whole.resourceVersion.empty());
  std::vector<std::string> paged;
  ListEnd end = list("?limit=3", paged);
  for (int i = 0; i < 10 && !end.continueToken.empty(); ++i)
    end = list("?limit=3&continue=" + kube::percentEncoded(end.continueToken), paged);
  EXPECT_EQ(paged, all);
}

TEST_F(HttpClusterTest, IsWatched) {
  std::vector<std::string> names;
  const ListEnd end = list("", names);
  createMap("map-a");
  createMap("map-b");
  bool failed = false;
  bool created = false;
  WatchStream stream(Content::Whole, [&](const WatchEvent& event) {
    EXPECT_EQ(event.type, EventType::Added);
    EXPECT_NE(event.object.content.find("metadata"), nullptr);
    names.push_back(event.object.meta.name);
  });
  const auto answer =
      server_->exchange(get(kMaps + std::string("?watch=1&resourceVersion=") + end.resourceVersion),
                        [&](int, std::string_view piece) {
                          failed = !stream.push(piece);
                          if (names.size() == 2 && !std::exchange(created, true)) createMap("map-c");
                          return !failed && names.size() < 3;
                        });
  EXPECT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(failed);
  EXPECT_EQ(names, (std::vector<std::string>{"map-a", "map-b", "map-c"}));
}

TEST_F(HttpClusterTest, SaysNoAsAnApiServer) {
  const auto missing = fetch(*server_, get(std::string(kMaps) + "/none"));
  ASSERT_TRUE(missing) << missing.error().message;
  EXPECT_EQ(toString(statusOfAnswer(*missing)), "404 NotFound: configmaps \"none\" not found");
}

}  // namespace
}  // namespace lastout::client

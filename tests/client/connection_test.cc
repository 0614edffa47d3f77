#include "client/connection.h"

#include <gtest/gtest.h>

namespace lastout::client {
namespace {

std::string written(std::string_view text) {
  const auto server = parseServerAddress(text);
  return server ? toString(*server) : server.error().message;
}

TEST(ServerAddress, HasTheUsualPortAndNoSlashAtItsEnd) {
  EXPECT_EQ(parseServerAddress("https://10.0.0.1:6443"), (ServerAddress{true, "10.0.0.1", 6443, ""}));
  EXPECT_EQ(parseServerAddress("https://kubernetes.default.svc"),
            (ServerAddress{true, "kubernetes.default.svc", 443, ""}));
  EXPECT_EQ(parseServerAddress("HTTP://localhost/"), (ServerAddress{false, "localhost", 80, ""}));
  EXPECT_EQ(parseServerAddress("https://[::1]:6443/k8s/clusters/c-1//"),
            (ServerAddress{true, "::1", 6443, "/k8s/clusters/c-1"}));
}

TEST(ServerAddress, IsWrittenAsItIsRead) {
  for (const char* text : {"https://10.0.0.1:6443", "http://[fe80::1]:80/a/b", "https://my_host.:1"})
    EXPECT_EQ(written(text), text);
}

TEST(ServerAddress, IsRefusedWhenItCouldMeanSomethingElse) {
  const std::string how = "; write it as https://HOST:PORT";
  for (const char* text : {"", "localhost:6443", "ftp://host", "https:/host", "//host"})
    EXPECT_EQ(written(text), "is no server's address: it begins with neither https:// nor http://" + how)
        << text;
  for (const char* text : {"https://h:0", "https://h:65536", "https://h:", "https://h:1x", "https://h:-1"})
    EXPECT_NE(written(text).find("is no server's address: its "), std::string::npos) << text;
  for (const char* text :
       {"https://", "https://::1:2", "https://:6443", "https:///path", "https://[::1", "https://[host]:1",
        "https://[::1]6443", "https://a b", "https://a\r\nX-Injected: 1", "https://h/a b",
        "https://h/?watch=true", "https://h#f", "https://user:secret@h", "https://h\xc3\xa9", "https://-h",
        "https://h/\r\n"})
    EXPECT_TRUE(written(text).starts_with("is no server's address: ")) << text;
  EXPECT_EQ(written("https://user:secret@h").find("secret"), std::string::npos);
  EXPECT_EQ(written(std::string("https://h/a\0b", 13)).substr(0, 22), "is no server's address");
}

}  // namespace
}  // namespace lastout::client

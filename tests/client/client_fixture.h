// A folder of its own for each test, gone afterwards, with what connections are made of: kubeconfigs, tokens,
// certificates, and plugins that are small shell scripts.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "client/connection.h"
#include "client/kubeconfig.h"
#include "kube/result.h"
#include "simulator/certificates.h"

namespace lastout::client {

// All errors, one a line.
std::string wordsOf(const kube::Errors& errors);

// "config:4:7: users[0].user.exec" becomes "user.exec" when `file` is "config:4:" and `list` is "users[0].".
std::string withoutPlaces(const std::string& text, const std::string& file, const std::string& list);

class ClientFolder : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string at(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, std::string_view bytes) const;  // answers its path
  std::string script(const std::string& name, std::string_view lines) const;
  std::string read(const std::string& name) const;
  void remove(const std::string& name) const { std::filesystem::remove_all(folder_ / name); }

  // The errors of a result, with this folder's path as "~"; "fine" when there are none.
  template <class T>
  std::string errorsOf(const tl::expected<T, kube::Errors>& result) const {
    return result ? "fine" : shortened(wordsOf(result.error()));
  }
  template <class T>
  std::string errorOf(const kube::Result<T>& result) const {
    return result ? "fine" : shortened(toString(result.error()));
  }
  std::string shortened(std::string text) const;

  std::filesystem::path folder_;
};

// A kubeconfig whose only context has this cluster and this user, each the inside of a map in braces.
std::string kubeconfigWith(std::string_view cluster, std::string_view user = "");
// Its connection, or its errors; no file is there.
tl::expected<ConnectionConfig, kube::Errors> connectionWith(std::string_view cluster,
                                                            std::string_view user = "");

// An authority and a client's certificate by it, made once.
const simulator::CertifiedKey& testAuthority();
const simulator::CertifiedKey& testClient();

}  // namespace lastout::client

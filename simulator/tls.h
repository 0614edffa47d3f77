// TLS for the listener: its own certificate, and clients' certificates, which they may but need not show.
#pragma once

#include <optional>
#include <string>

#include "kube/result.h"
#include "simulator/user.h"

// OpenSSL's SSL_CTX and SSL.
struct ssl_ctx_st;
struct ssl_st;

namespace lastout::simulator {

// All in PEM. `clientAuthority` vouches for clients; empty: nobody does. Fails with what is wrong with them.
kube::Result<void> configureServer(ssl_ctx_st& context, const std::string& certificate,
                                   const std::string& privateKey, const std::string& clientAuthority);

// Who the client's certificate says it is; nothing when it has shown none, or one that its
// authority did not sign.
std::optional<UserInfo> clientOf(const ssl_st& connection);

}  // namespace lastout::simulator

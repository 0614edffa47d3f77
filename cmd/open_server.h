// openServer: the lastout that `lastout serve` runs beside a real cluster, and `lastout up --guard inside`
// beside its own.
#pragma once

#include <memory>
#include <tl/expected.hpp>

#include "client/connection.h"
#include "cmd/listening.h"
#include "cmd/log.h"
#include "cmd/serve_identity.h"
#include "cmd/serve_options.h"
#include "kube/result.h"
#include "server/server.h"

namespace lastout::cmd {

using ServerOpened = tl::expected<std::unique_ptr<server::Server>, kube::Errors>;

// Opens a server for `cluster` that does what the options say, which are without problems (problemsOf());
// `address` is that of their `listen`, and `identity` is shown there. `log` outlives the server. Fails with
// what is wrong with an option, and as Server::open() does.
ServerOpened openServer(const ServeOptions& options, const ListenAddress& address,
                        const ServeIdentity& identity, client::ConnectionConfig cluster, Log& log);

}  // namespace lastout::cmd

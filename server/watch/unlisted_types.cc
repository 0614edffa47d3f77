#include "server/watch/unlisted_types.h"

namespace lastout::server {

bool UnlistedTypes::isDue(const std::vector<kube::GroupResource>& types, client::TimePoint now) {
  if (types != types_) {
    types_ = types;
    backoff_.reset();
    notBefore_ = now;
  }
  if (types_.empty() || now < notBefore_) return false;
  notBefore_ = now + backoff_.next();
  return true;
}

}  // namespace lastout::server

#include "tests/client/script.h"

#include "client/cluster_uid.h"

namespace lastout::testing {

class Script::Server final : public client::ApiServer {
 public:
  explicit Server(Script& script) : script_(script) {}

  kube::Result<client::ApiAnswer> exchange(const client::ApiRequest& request, const Take& take) override {
    if (request.target == client::kClusterPath) return tellCluster(take);
    ScriptedAnswer answer{200, {}, ScriptedAnswer::Then::IsOpen, {}};
    {
      const std::scoped_lock lock(script_.mutex_);
      script_.requests_.push_back(request);
      if (!script_.answers_.empty()) {
        answer = script_.answers_.front();
        script_.answers_.pop_front();
      }
    }
    script_.changed_.notify_all();
    const client::ApiAnswer whole{answer.status, answer.retryAfter};
    bool wanted = take(answer.status, "");
    for (const std::string& piece : answer.pieces) wanted = wanted && take(answer.status, piece);
    if (!wanted || answer.then == ScriptedAnswer::Then::Ends) return whole;
    if (answer.then == ScriptedAnswer::Then::IsCut) return tl::unexpected(kube::Error{"it was cut", {}, {}});
    return stayOpen(whole, take);
  }

  void stop() override {
    {
      const std::scoped_lock lock(script_.mutex_);
      script_.stopped_ = true;
    }
    script_.changed_.notify_all();
  }

 private:
  kube::Result<client::ApiAnswer> tellCluster(const Take& take) {
    int status = 0;
    std::string body;
    {
      const std::scoped_lock lock(script_.mutex_);
      if (script_.stopped_) return tl::unexpected(kube::Error{"it was stopped", {}, {}});
      status = script_.clusterStatus_;
      if (status == 200)
        body = R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)"
               R"({"name":"kube-system","uid":")" +
               script_.cluster_ + R"("}})";
    }
    take(status, body);
    return client::ApiAnswer{status, {}};
  }

  kube::Result<client::ApiAnswer> stayOpen(const client::ApiAnswer& whole, const Take& take) {
    std::unique_lock lock(script_.mutex_);
    script_.open_ = true;
    script_.changed_.notify_all();
    while (true) {
      script_.changed_.wait(lock, [&] { return script_.stopped_ || !script_.more_.empty(); });
      if (script_.stopped_) return tl::unexpected(kube::Error{"it was stopped", {}, {}});
      const auto [piece, end] = script_.more_.front();
      script_.more_.pop_front();
      script_.open_ = !end;
      lock.unlock();
      const bool wanted = take(whole.status, piece);
      lock.lock();
      if (wanted && !end) continue;
      script_.open_ = false;
      return whole;
    }
  }

  Script& script_;
};

std::unique_ptr<client::ApiServer> Script::server() { return std::make_unique<Server>(*this); }

void Script::goOn(const std::string& piece, bool end) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
    more_.emplace_back(piece, end);
  }
  changed_.notify_all();
}

void Script::become(const std::string& cluster) {
  const std::scoped_lock lock(mutex_);
  cluster_ = cluster;
}

void Script::refuseToSayWhich(int status) {
  const std::scoped_lock lock(mutex_);
  clusterStatus_ = status;
}

client::ApiRequest Script::request(size_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return requests_.size() > number; });
  return requests_[number];
}

}  // namespace lastout::testing

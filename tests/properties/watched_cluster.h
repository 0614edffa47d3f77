// WatchedCluster: a cluster in which a WatchedHistory happens, and a LiveView beside it that is told as
// watches and discovery would tell it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/watch/live_view.h"
#include "tests/properties/told_cluster.h"
#include "tests/properties/watched_history.h"

namespace lastout::testing {

class WatchedCluster {
 public:
  WatchedCluster();

  void play(const WatchedHappening& happening);

  server::LiveView& view() { return *view_; }
  const ToldCluster& told() const { return told_; }
  // Of the last UPDATE: what of it the view took for weaker.
  const std::vector<admission::Weakening>& weakened() const { return weakened_; }
  // What CREATE or UPDATE of this would be refused for; empty: nothing.
  std::string problemsOf(const WatchedHappening& write) const;
  bool isProviderThere(const kube::ObjectKey& provider) const;

 private:
  // What is so, whoever knows.
  struct Truth {
    std::set<kube::GroupResource> definitions = {};
    std::set<kube::GroupResource> apis = {};
    std::set<kube::GroupResource> leaving = {};  // their CRDs went after discovery was looked at last
    std::set<kube::GroupResource> forbidden = {};
    std::set<kube::GroupResource> broken = {};
    std::map<std::string, kube::Object> services = {};
    std::vector<PlainObject> objects = {};
  };

  void start(bool isLate);
  void writeStatus();
  void discover(bool isLate, const std::string& gap);
  void write(const WatchedHappening& write);
  void removeService(const std::string& name);
  void define(const kube::GroupResource& type, bool isLate);
  void undefine(const kube::GroupResource& type, bool isLate);
  void put(const kube::ObjectKey& key, const std::vector<std::string>& finalizers);
  void erase(const kube::ObjectKey& key);
  void changeTemplate(const kube::ObjectKey& provider, const std::string& config);
  void endOldPods(const kube::ObjectKey& provider);
  void tellTemplates(const kube::ObjectKey& provider);

  void follow();
  bool unfollowUnwanted();
  void read(const kube::GroupResource& type);
  void list(const kube::GroupResource& type);
  ToldReading readingOf(const kube::GroupResource& type) const;
  bool isServed(const kube::GroupResource& type) const;
  bool isFollowing(const kube::GroupResource& type) const;
  void forget(const kube::GroupResource& type);
  void upsert(const kube::ObjectKey& key, const std::vector<std::string>& finalizers);
  void remove(const kube::ObjectKey& key);
  kube::Object manifestOf(const WatchedHappening& write) const;

  std::vector<admission::Weakening> weakened_;
  std::unique_ptr<server::LiveView> view_;
  Truth truth_;
  ToldCluster told_;
  std::map<kube::ObjectKey, std::vector<ToldTemplate>> templates_;
  uint64_t versions_ = 0;
};

}  // namespace lastout::testing

#include "bench/teardown/report.h"

#include <algorithm>
#include <cstdio>
#include <functional>

namespace lastout::bench {
namespace {

using Values = std::vector<double>;

double secondsOf(Milliseconds time) { return static_cast<double>(time.count()) / 1000; }
double wallSecondsOf(const TeardownOrder& order, Milliseconds time) { return secondsOf(time) / order.speed; }

// The smallest of the values that so many of them (0 to 1) do not exceed; 0 of none.
double quantile(Values values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto rank = static_cast<size_t>(std::max(0.0, share * static_cast<double>(values.size()) - 1e-9));
  return values[std::min(rank, values.size() - 1)];
}

std::string decimal(double value, int digits) {
  char text[64];  // NOLINT(modernize-avoid-c-arrays)
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// "p50 0.03 s, p99 0.09 s, most 0.10 s"
std::string spread(const Values& values) {
  if (values.empty()) return "none";
  return "p50 " + decimal(quantile(values, 0.5), 2) + " s, p99 " + decimal(quantile(values, 0.99), 2) +
         " s, most " + decimal(quantile(values, 1), 2) + " s";
}

// "median 3 (0 to 5)"
std::string range(const Values& values, int digits = 0) {
  if (values.empty()) return "none";
  return decimal(quantile(values, 0.5), digits) + " (" + decimal(quantile(values, 0), digits) + " to " +
         decimal(quantile(values, 1), digits) + ")";
}

Values eachOf(const std::vector<TeardownOrder>& orders,
              const std::function<double(const TeardownOrder&)>& value) {
  Values values;
  values.reserve(orders.size());
  for (const TeardownOrder& order : orders) values.push_back(value(order));
  return values;
}

Values waitsOf(const std::vector<TeardownOrder>& orders, bool wall) {
  Values values;
  for (const TeardownOrder& order : orders) {
    for (const Milliseconds wait : order.figures.waits)
      values.push_back(wall ? wallSecondsOf(order, wait) : secondsOf(wait));
  }
  return values;
}

int sumOf(const std::vector<TeardownOrder>& orders, int Figures::*what) {
  int sum = 0;
  for (const TeardownOrder& order : orders) sum += order.figures.*what;
  return sum;
}

double ratioOf(const TeardownOrder& order) {
  return secondsOf(order.figures.total) / secondsOf(order.longestPath);
}

struct Row {
  std::string what;
  std::function<std::string(const std::vector<TeardownOrder>&)> show;
  // Not to be shown where no deferred deletions are run: the clock's speed changes there on the way, and what
  // never ends takes no time.
  bool isOfDeferredDeletions = false;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows{
      {"orders", [](const auto& orders) { return std::to_string(orders.size()); }},
      {"ended empty",
       [](const auto& orders) {
         return std::to_string(
             std::ranges::count_if(orders, [](const TeardownOrder& order) { return order.figures.isEmpty; }));
       }},
      {"works that are left",
       [](const auto& orders) {
         return range(eachOf(orders, [](const TeardownOrder& order) { return order.figures.worksLeft; }));
       }},
      {"works reported gone before what they had applied",
       [](const auto& orders) {
         return range(eachOf(orders, [](const TeardownOrder& order) { return order.figures.early.size(); }));
       }},
      {"providers that went before their criteria held",
       [](const auto& orders) { return std::to_string(sumOf(orders, &Figures::providersEarly)); }},
      {"providers that are left although their criteria hold",
       [](const auto& orders) {
         return range(
             eachOf(orders, [](const TeardownOrder& order) { return order.figures.providersStuck; }));
       }},
      {"from there to their deletion, on the wall",
       [](const auto& orders) { return spread(waitsOf(orders, true)); }, true},
      {"the same in the controllers' time",
       [](const auto& orders) { return spread(waitsOf(orders, false)); }},
      {"DELETEs denied to controllers",
       [](const auto& orders) {
         return range(eachOf(orders, [](const TeardownOrder& order) { return order.figures.denied; }));
       }},
      {"DELETEs by lastout; those that nobody had asked for",
       [](const auto& orders) {
         double unasked = 0;
         for (const TeardownOrder& order : orders)
           unasked += static_cast<double>(order.figures.unasked.size());
         return range(eachOf(orders,
                             [](const TeardownOrder& order) { return order.figures.deletedByLastout; })) +
                "; " + decimal(unasked, 0);
       }},
      {"until the last object was gone, on the wall",
       [](const auto& orders) {
         return range(eachOf(orders,
                             [](const TeardownOrder& order) {
                               return wallSecondsOf(order, order.figures.total);
                             }),
                      1) +
                " s";
       },
       true},
      {"the same in the controllers' time",
       [](const auto& orders) {
         return range(
                    eachOf(orders, [](const TeardownOrder& order) { return secondsOf(order.figures.total); }),
                    1) +
                " s";
       },
       true},
      {"of the longest goes-after path", [](const auto& orders) { return range(eachOf(orders, ratioOf), 2); },
       true},
  };
  return kRows;
}

}  // namespace

std::vector<std::string> shortfalls(const TeardownOrder& order) {
  const Figures& figures = order.figures;
  std::vector<std::string> found;
  const auto add = [&](size_t count, const char* what) {
    if (count > 0) found.push_back(std::to_string(count) + " " + what);
  };
  add(static_cast<size_t>(figures.providersEarly), "providers went before their criteria held");
  add(figures.unasked.size(), "deletions that nobody had asked for");
  if (!order.runsDeferredDeletions) return found;
  add(figures.left.size(), "objects and works are left");
  add(figures.early.size(), "works were reported gone before what they had applied");
  for (const std::string& work : figures.early) found.push_back("  " + work);
  return found;
}

std::string oneLine(const TeardownOrder& order) {
  const Figures& figures = order.figures;
  return "order " + std::to_string(order.seed) +
         (order.runsDeferredDeletions ? "" : ", no deferred deletions run") + ": " +
         (figures.isEmpty ? "empty" : std::to_string(figures.left.size()) + " left") + " after " +
         decimal(secondsOf(figures.total), 1) + " s (" + decimal(ratioOf(order), 2) +
         " of the longest path); providers waited " + spread(waitsOf({order}, order.runsDeferredDeletions)) +
         (order.runsDeferredDeletions ? " on the wall" : " of the controllers' time");
}

std::string table(const std::vector<TeardownOrder>& orders) {
  std::vector<TeardownOrder> with;
  std::vector<TeardownOrder> without;
  for (const TeardownOrder& order : orders) (order.runsDeferredDeletions ? with : without).push_back(order);
  std::string text = "| | deferred, and run | `deferredDeletions: Never` |\n|---|---|---|\n";
  for (const Row& row : rows()) {
    const auto cell = [&row](const std::vector<TeardownOrder>& some) {
      return some.empty() ? "" : row.show(some);
    };
    text += "| " + row.what + " | " + cell(with) + " | " + (row.isOfDeferredDeletions ? "" : cell(without)) +
            " |\n";
  }
  return text;
}

Json toJson(const TeardownOrder& order) {
  const Figures& figures = order.figures;
  Json waits = Json::array();
  for (const Milliseconds wait : figures.waits) waits.push_back(secondsOf(wait));
  const Json wallTotal = order.runsDeferredDeletions ? Json(wallSecondsOf(order, figures.total)) : Json();
  return {{"seed", order.seed},
          {"carriesOut", order.runsDeferredDeletions},
          {"speed", order.speed},
          {"empty", figures.isEmpty},
          {"left", figures.left},
          {"worksLeft", figures.worksLeft},
          {"worksEarly", figures.early.size()},
          {"early", figures.early},
          {"providersEarly", figures.providersEarly},
          {"providersStuck", figures.providersStuck},
          {"providersWaited", waits},
          {"denied", figures.denied},
          {"carriedOut", figures.deletedByLastout},
          {"unasked", figures.unasked},
          {"total", secondsOf(figures.total)},
          {"longestPath", secondsOf(order.longestPath)},
          {"wallTotal", wallTotal}};
}

}  // namespace lastout::bench

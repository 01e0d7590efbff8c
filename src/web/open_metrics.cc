#include "web/open_metrics.h"

#include <fmt/core.h>

#include <map>
#include <vector>

#include "base/text.h"
#include "ledger/metrics.h"

namespace stoker::web {
namespace {

// A reading older than this is not "the latest" to a scraper, which would stamp it with its own
// time.
constexpr double kMaxAgeSeconds = 10;

struct Labelled {
  std::string labels;  // "{gpu=\"0\"}" or empty
  double value = 0;
};

std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string CardLabels(const ledger::Card& card, std::string_view more = {}) {
  return fmt::format("{{gpu=\"{}\",uuid=\"{}\"{}}}", card.gpu, Escape(card.uuid), more);
}

class Text {
 public:
  void Family(std::string_view name, std::string_view type, std::string_view help,
              const std::vector<Labelled>& samples) {
    if (samples.empty()) return;
    out_ += fmt::format("# TYPE stoker_{} {}\n# HELP stoker_{} {}\n", name, type, name, help);
    const std::string_view suffix = type == "counter" ? "_total" : type == "info" ? "_info" : "";
    for (const Labelled& sample : samples) {
      out_ += fmt::format("stoker_{}{}{} {}\n", name, suffix, sample.labels, sample.value);
    }
  }
  std::string Finish() && { return std::move(out_) + "# EOF\n"; }

 private:
  std::string out_;
};

void AddMetric(const ledger::MetricInfo& info, const query::Now& now, Text& text) {
  std::vector<Labelled> samples;
  const std::string name(info.name);
  if (info.scope == ledger::Scope::kCard) {
    for (const query::CardNow& card : now.cards) {
      const auto it = card.readings.find(name);
      if (it == card.readings.end() || !it->second || card.age_s > kMaxAgeSeconds) continue;
      samples.push_back({CardLabels(card.card), *it->second});
    }
  } else if (now.host_age_s <= kMaxAgeSeconds) {
    if (info.metric == ledger::Metric::kCoreBusyRatio) {
      for (size_t i = 0; i < now.cores.size(); ++i) {
        if (now.cores[i]) samples.push_back({fmt::format("{{core=\"{}\"}}", i), *now.cores[i]});
      }
    } else if (const auto it = now.host.find(name); it != now.host.end() && it->second) {
      samples.push_back({"", *it->second});
    }
  }
  const std::string help = info.unit.empty()
                               ? Escape(info.sentence)
                               : fmt::format("{} ({})", Escape(info.sentence), info.unit);
  text.Family(name, info.kind == ledger::MetricKind::kCounter ? "counter" : "gauge", help, samples);
}

std::vector<Labelled> AbsentReadings(const query::Now& now) {
  std::vector<Labelled> samples;
  for (const query::CardNow& card : now.cards) {
    for (const auto& [name, reading] : card.readings) {
      if (reading) continue;
      const std::string more =
          fmt::format(",metric=\"{}\",reason=\"{}\"", Escape(name), AbsenceName(reading.absence()));
      samples.push_back({CardLabels(card.card, more), 1});
    }
  }
  return samples;
}

}  // namespace

std::string OpenMetrics(const query::Now& now) {
  Text text;
  if (now.box) {
    text.Family("box", "info", "the box that is read",
                {{fmt::format("{{hostname=\"{}\",simulated=\"{}\"}}", Escape(now.box->hostname),
                              now.simulated),
                  1}});
  }
  std::vector<Labelled> cards;
  std::vector<Labelled> ages;
  for (const query::CardNow& card : now.cards) {
    cards.push_back(
        {CardLabels(card.card, fmt::format(",name=\"{}\"", Escape(card.card.name))), 1});
    if (!card.readings.empty()) ages.push_back({CardLabels(card.card), card.age_s});
  }
  text.Family("card", "info", "the cards of the box", cards);
  text.Family("card_reading_age_s", "gauge", "time since the card last answered (s)", ages);
  if (!now.host.empty()) {
    text.Family("host_reading_age_s", "gauge", "time since the host was last read (s)",
                {{"", now.host_age_s}});
  }
  for (const ledger::MetricInfo& info : ledger::AllMetrics()) AddMetric(info, now, text);
  text.Family("reading_absent", "gauge", "1 for a reading that has no value, with the reason",
              AbsentReadings(now));
  text.Family("jobs_running", "gauge", "jobs that run now",
              {{"", static_cast<double>(now.running.size())}});
  return std::move(text).Finish();
}

}  // namespace stoker::web

// SPDX-License-Identifier: BSD-3-Clause
#include "timeline.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sched {
namespace {

double end_of(const Timeline& t, const Segment& s) {
  return s.end_s > 0 ? s.end_s : t.end_s;
}

char letter_of(std::int64_t job) {
  constexpr const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return letters[(job - 1 + 52 * 1000) % 52];
}

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

std::string name_of(const Timeline& t, std::int64_t job) {
  const auto at = t.names.find(job);
  return at == t.names.end() ? std::to_string(job) : fmt::format("{} {}", job, at->second);
}

std::string colour_of(std::int64_t job) { // hues by the golden angle: neighbours differ
  const double hue = std::fmod(static_cast<double>(job) * 137.508, 360), light = job % 2 != 0 ? 0.60 : 0.72,
               wide = 0.6 * (1 - std::abs(2 * light - 1));
  const auto part = [&](double shift) { // of red, green, blue, from hue, saturation 0.6 and lightness
    const double k = std::fmod(shift + hue / 30, 12);
    return static_cast<int>(255 * (light - wide / 2 * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", part(0), part(8), part(4));
}

/// 1, 2 or 5 times a power of ten, about a tenth of the span.
double tick_of(double span_s) {
  const double power = std::pow(10, std::floor(std::log10(std::max(span_s, 1e-6) / 8)));
  for (const double f : {1.0, 2.0, 5.0})
    if (span_s / (f * power) <= 10) return f * power;
  return 10 * power;
}

std::string ids_text(const std::vector<int>& ids) { // 0-3,6
  std::string out;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t j = i;
    while (j + 1 < ids.size() && ids[j + 1] == ids[j] + 1) ++j;
    out += fmt::format("{}{}", out.empty() ? "" : ",", ids[i]);
    if (j > i) out += fmt::format("-{}", ids[j]);
    i = j + 1;
  }
  return out;
}

} // namespace

std::string timeline_text(const Timeline& t, int columns) {
  const double span = std::max(t.end_s - t.begin_s, 1e-6);
  std::vector<std::string> rows(static_cast<std::size_t>(t.procs), std::string(static_cast<std::size_t>(columns), '.'));
  // the job that held a processor longest within a column's time is shown in it
  std::vector<std::vector<double>> held(rows.size(), std::vector<double>(static_cast<std::size_t>(columns), 0));
  const double width = span / columns;
  for (const Segment& s : t.segments)
    for (const int id : s.processors) {
      if (id < 0 || id >= t.procs) continue;
      for (int c = 0; c < columns; ++c) {
        const double from = std::max(s.begin_s, t.begin_s + c * width),
                     to = std::min(end_of(t, s), t.begin_s + (c + 1) * width);
        auto& best = held[static_cast<std::size_t>(id)][static_cast<std::size_t>(c)];
        if (to - from > best) {
          best = to - from;
          rows[static_cast<std::size_t>(id)][static_cast<std::size_t>(c)] = letter_of(s.job);
        }
      }
    }
  std::string out;
  for (std::size_t id = rows.size(); id-- > 0;) out += fmt::format("{:4} |{}|\n", id, rows[id]);
  out += fmt::format("      0{:>{}}\n", fmt::format("{:.1f} s", span), columns - 1);
  for (const Segment& s : t.segments)
    out += fmt::format("{} job {:<20} {:9.2f} - {:9.2f} s  {:3} processors: {}\n", letter_of(s.job), name_of(t, s.job),
                       s.begin_s - t.begin_s, end_of(t, s) - t.begin_s, s.processors.size(), ids_text(s.processors));
  return out;
}

std::string timeline_svg(const Timeline& t) {
  const double span = std::max(t.end_s - t.begin_s, 1e-6);
  constexpr double left = 46, top = 28, width = 900;
  const double row = std::max(4.0, std::min(22.0, 480.0 / std::max(t.procs, 1)));
  const double height = row * t.procs;
  const auto x = [&](double at_s) { return left + width * std::clamp((at_s - t.begin_s) / span, 0.0, 1.0); };
  std::string out = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
                                "font-family=\"sans-serif\" font-size=\"11\">\n"
                                "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                                "<text x=\"{}\" y=\"16\">Jobs on {} processors</text>\n"
                                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{:.1f}\" fill=\"#f2f2f2\"/>\n",
                                left + width + 20, top + height + 40, left, t.procs, left, top, width, height);
  for (const Segment& s : t.segments) {
    const double from = x(s.begin_s), to = x(end_of(t, s));
    bool first = true;
    for (std::size_t i = 0; i < s.processors.size();) { // a rectangle for each piece of neighbours
      std::size_t j = i;
      while (j + 1 < s.processors.size() && s.processors[j + 1] == s.processors[j] + 1) ++j;
      const double y = top + height - row * (s.processors[j] + 1), h = row * static_cast<double>(j - i + 1);
      out += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
                         "stroke=\"white\" stroke-width=\"0.5\"><title>job {}: {} processors, {:.2f} to "
                         "{:.2f} s</title></rect>\n",
                         from, y, std::max(to - from, 0.5), h, colour_of(s.job), xml(name_of(t, s.job)),
                         s.processors.size(), s.begin_s - t.begin_s, end_of(t, s) - t.begin_s);
      const std::string label = xml(name_of(t, s.job));
      if (first && to - from > 7.0 * static_cast<double>(label.size()) && h >= 11)
        out += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n", from + 3, y + h / 2 + 4, label);
      first = false;
      i = j + 1;
    }
  }
  for (int id = 0; id < t.procs; id += std::max(1, static_cast<int>(std::ceil(12 / row))))
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 5,
                       top + height - row * id - row / 2 + 4, id);
  const double tick = tick_of(span);
  for (double s = 0; s <= span * 1.0001; s += tick)
    out += fmt::format(
        "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1}\" y2=\"{2:.1f}\" stroke=\"#888\" stroke-width=\"0.5\"/>"
        "<text x=\"{0:.2f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:g} s</text>\n",
        x(t.begin_s + s), top, top + height + 4, top + height + 18, s);
  return out + "</svg>\n";
}

} // namespace sched

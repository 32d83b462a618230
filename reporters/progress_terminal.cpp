// Live progress for a person: lines that are drawn again in their place. The cursor rests at the start of the line
// below them, is never hidden, and nothing about the terminal is changed: however the process ends, the terminal is as
// it was.
#include <algorithm>
#include <fmt/format.h>

#include "reporters/console_text.hpp"
#include "reporters/live_rate.hpp"
#include "reporters/progress.hpp"

namespace feedbench::reporters {
namespace {

constexpr unsigned kLeastColumns = 60;

struct Line {
    std::string text;
    std::size_t columns; // what it takes on the screen: bytes of UTF-8 are more
};

Line plain(std::string text, unsigned columns) {
    text.resize(std::min<std::size_t>(text.size(), columns));
    const std::size_t taken = text.size();
    return {std::move(text), taken};
}

std::string figures_text(const Progress& p, const LiveRate& rate) {
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "   ") + part; };
    if (p.au_so_far_percentage >= 0) add(fmt::format("AU {:.1f} %", p.au_so_far_percentage));
    if (rate.in_flight_reads() || p.stalled_accelerators > 0)
        add(fmt::format("{} stalled accelerators", p.stalled_accelerators));
    if (rate.in_flight_reads()) add(fmt::format("{} reads in flight", *rate.in_flight_reads()));
    if (rate.cpu_cores()) add(fmt::format("{:.2f} CPU cores", *rate.cpu_cores()));
    return text;
}

std::string rates_text(const Progress& p, const LiveRate& rate) {
    std::string text = "MB/s now " + rate_text(p.MB_per_second_now);
    if (const auto mean = rate.mean_MB_per_second()) text += "   sustained " + rate_text(*mean);
    if (const auto lowest = rate.min_MB_per_second()) text += "   lowest second " + rate_text(*lowest);
    return text;
}

std::vector<Line> panel_lines(const Progress& p, const LiveRate& rate, unsigned columns, bool unicode) {
    Progress place = p; // the figures have lines of their own
    place.au_so_far_percentage = -1;
    place.MB_per_second_now = 0;
    place.stalled_accelerators = 0;
    std::vector<Line> lines{plain(progress_line(place, columns), columns)};
    if (const std::string text = figures_text(p, rate); !text.empty()) lines.push_back(plain("  " + text, columns));
    if (p.MB_per_second_now <= 0 && rate.recent().empty()) return lines;
    lines.push_back(plain("  " + rates_text(p, rate), columns));
    if (rate.recent().size() < 2) return lines;
    const std::size_t shown = std::min<std::size_t>(rate.recent().size(), columns - 2);
    lines.push_back({"  " + sparkline(rate.recent(), shown, unicode), 2 + shown});
    return lines;
}

class ProgressTerminal final : public ProgressView {
  public:
    ProgressTerminal(ProgressOutput output, bool panel) : output_(std::move(output)), panel_(panel) {}
    ~ProgressTerminal() override { clear(); }

    void on_slice(const Slice& slice) override { rate_.on_slice(slice); }
    void on_progress(const Progress& p) override {
        rate_.on_progress(p);
        if (interval_.due(p, output_.now_s ? output_.now_s() : p.elapsed_s)) draw(p);
    }
    void on_epoch(const EpochResult& epoch) override {
        rate_.restart();
        on_message(epoch_line(epoch));
    }
    void on_message(std::string_view message) override {
        clear();
        output_.write(std::string(message) + "\n");
    }
    void finish(const ProgressEnd&) override { clear(); }

  private:
    // To the first of the lines on the screen. Lines that a narrower terminal may have wrapped are counted as one each:
    // not all terminals do it, and too far up there is text that is not ours.
    std::string home() const { return drawn_ > 0 ? fmt::format("\r\033[{}A", drawn_) : "\r"; }

    void draw(const Progress& p) {
        const TerminalSize size = output_.size ? output_.size() : TerminalSize{};
        // The last column stays free: some terminals wrap there, others do not.
        const unsigned columns = std::max(size.columns, 2u) - 1;
        std::vector<Line> lines;
        if (panel_ && columns + 1 >= kLeastColumns) lines = panel_lines(p, rate_, columns, output_.unicode);
        if (lines.empty() || lines.size() + 1 >= size.rows) lines = {plain(progress_line(p, columns), columns)};
        std::string text = home();
        for (const Line& line : lines) text += line.text + "\033[K\n";
        output_.write(text + "\033[J"); // what is left of a higher panel, and an echoed ^C
        drawn_ = lines.size();
    }

    void clear() {
        if (drawn_ > 0) output_.write(home() + "\033[J");
        drawn_ = 0;
    }

    ProgressOutput output_;
    bool panel_;
    ShowInterval interval_{0.2, true};
    LiveRate rate_;
    std::size_t drawn_ = 0; // lines on the screen, above the cursor
};

} // namespace

std::unique_ptr<ProgressView> make_progress_panel(ProgressOutput output) {
    return std::make_unique<ProgressTerminal>(std::move(output), true);
}
std::unique_ptr<ProgressView> make_progress_line(ProgressOutput output) {
    return std::make_unique<ProgressTerminal>(std::move(output), false);
}

} // namespace feedbench::reporters

// A terminal and a clock for tests of live progress.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <string>
#include <vector>

#include "reporters/progress.hpp"

namespace feedbench::reporters::test {

// A terminal that keeps what a person would see: lines, with the cursor moved as the few sequences say that are used.
// Anything else is a failure. Lines that are longer than the terminal wrap, as a real one's do.
class FakeTerminal {
  public:
    TerminalSize size{80, 24};
    double now_s = 1000; // the clock of whoever looks
    std::string written;

    ProgressOutput output(bool unicode = false) {
        ProgressOutput out;
        out.write = [this](std::string_view text) { take(text); };
        out.size = [this] { return size; };
        out.now_s = [this] { return now_s; };
        out.unicode = unicode;
        return out;
    }
    std::string screen() const {
        std::string text;
        for (const std::string& line : lines_) text += line + "\n";
        while (text.ends_with("\n\n")) text.pop_back();
        return text;
    }
    bool cursor_is_at_line_start() const { return column_ == 0; }

  private:
    void take(std::string_view text) {
        written += text;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\r') {
                column_ = 0;
            } else if (text[i] == '\n') {
                column_ = 0;
                ++row_;
            } else if (text[i] == '\033') {
                i = sequence(text, i + 1);
            } else {
                REQUIRE(static_cast<unsigned char>(text[i]) >= 32);
                put(text[i]);
            }
            while (lines_.size() <= row_) lines_.emplace_back();
        }
    }
    std::size_t sequence(std::string_view text, std::size_t at) {
        REQUIRE(text[at] == '[');
        std::size_t end = at + 1;
        while (std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
        const std::size_t number =
            end > at + 1 ? std::stoul(std::string(text.substr(at + 1, end - at - 1))) : std::size_t{0};
        if (text[end] == 'A') {
            REQUIRE(number <= row_); // further up is not ours
            row_ -= number;
        } else if (text[end] == 'K') {
            lines_[row_].resize(std::min(lines_[row_].size(), column_));
        } else if (text[end] == 'J') {
            lines_[row_].resize(std::min(lines_[row_].size(), column_));
            lines_.resize(row_ + 1);
        } else {
            FAIL("a sequence that nobody expects: " << text[end]);
        }
        return end;
    }
    void put(char c) {
        if (column_ >= size.columns && (c & 0xC0) != 0x80) {
            column_ = 0;
            ++row_;
            while (lines_.size() <= row_) lines_.emplace_back();
        }
        std::string& line = lines_[row_];
        line.resize(std::max(line.size(), column_), ' ');
        column_ < line.size() ? void(line[column_] = c) : line.push_back(c);
        ++column_;
    }
    std::vector<std::string> lines_{""};
    std::size_t row_ = 0, column_ = 0;
};

} // namespace feedbench::reporters::test

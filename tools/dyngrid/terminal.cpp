// SPDX-License-Identifier: BSD-3-Clause
#include "terminal.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/file_descriptor.hpp"

namespace command {
namespace {

constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT};
termios before, raw;
bool changes_keys = false;
struct sigaction old_actions[NSIG];

// only calls that a signal handler may make
void take() {
  if (changes_keys) tcsetattr(0, TCSANOW, &raw);
  base::write_all(1, "\033[?25l");
}
void restore() {
  if (changes_keys) tcsetattr(0, TCSANOW, &before);
  base::write_all(1, "\033[?25h");
}

/// Restores, then the signal has its usual effect.
extern "C" void on_signal(int number) {
  const int error = errno;
  if (number == SIGCONT) {
    take();
  } else {
    restore();
    struct sigaction ours;
    sigaction(number, &old_actions[number], &ours);
    raise(number);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigprocmask(SIG_UNBLOCK, &one, nullptr); // here the process ends, or stops until SIGCONT
    sigaction(number, &ours, nullptr);
  }
  errno = error;
}

void set_handler(int number) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, &old_actions[number]);
  if (old_actions[number].sa_handler == SIG_IGN) sigaction(number, &old_actions[number], nullptr); // nohup
}

} // namespace

Terminal::Terminal(bool wants_colour) {
  const char *no_colour = std::getenv("NO_COLOR"), *term = std::getenv("TERM");
  has_colour_ =
      wants_colour && (no_colour == nullptr || *no_colour == '\0') && term != nullptr && std::string(term) != "dumb";
  has_keys_ = isatty(0) == 1 && tcgetpgrp(0) == getpgrp() && tcgetattr(0, &before) == 0;
  changes_keys = has_keys_;
  raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO); // ^C and ^Z remain signals
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  for (const int number : handled) set_handler(number);
  take();
}

Terminal::~Terminal() {
  restore();
  for (const int number : handled) sigaction(number, &old_actions[number], nullptr);
  changes_keys = false;
}

Screen Terminal::screen() const {
  Screen screen;
  screen.has_colour = has_colour_;
  winsize size{};
  if (ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    screen.width = size.ws_col;
    screen.height = size.ws_row;
  }
  return screen;
}

void Terminal::draw(const std::vector<ViewLine>& lines) {
  const Screen now = screen();
  std::string text = "\r";
  if (drawn_ > 0) text += "\033[" + std::to_string(drawn_) + "A";
  for (const ViewLine& line : lines) text += drawn(line, now) + "\033[K\n";
  text += "\033[J"; // there were more lines before
  drawn_ = lines.size();
  base::write_all(1, text); // or the terminal has gone
}

KeyPress Terminal::wait(int fd, double seconds) {
  if (ahead_.empty()) {
    pollfd of[2] = {{has_keys_ ? 0 : -1, POLLIN, 0}, {fd, POLLIN, 0}};
    if (poll(of, 2, static_cast<int>(1000 * seconds)) > 0 && of[0].revents != 0) {
      char bytes[64];
      const ssize_t got = read(0, bytes, sizeof bytes);
      if (got > 0)
        typed_.append(bytes, static_cast<std::size_t>(got));
      else if ((of[0].revents & (POLLHUP | POLLERR)) != 0)
        return {Key::quit, 0}; // the terminal is gone
      for (const KeyPress& press : keys_of(typed_)) ahead_.push_back(press);
    }
  }
  if (ahead_.empty()) return {};
  const KeyPress press = ahead_.front();
  ahead_.pop_front();
  return press;
}

} // namespace command

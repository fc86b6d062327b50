// SPDX-License-Identifier: BSD-3-Clause
#include "control/resize_request.hpp"

#include <utility>

#include "control/job_state.hpp"

namespace control {

ResizeRequest::ResizeRequest(ResizeRequest&& other) noexcept {
  *this = std::move(other);
}

ResizeRequest& ResizeRequest::operator=(ResizeRequest&& other) noexcept {
  if (this == &other) return *this;
  if (JobState* job = answered()) job->give_up(*this);
  RequestedResize::operator=(std::move(other));
  is_late_ = other.is_late_;
  job_ = other.answered();
  return *this;
}

ResizeRequest::~ResizeRequest() {
  if (JobState* job = answered()) job->give_up(*this);
}

void ResizeRequest::done(const ChangeReport& report, int parked, double now) {
  if (JobState* job = answered()) job->end_change(this, report, parked, now);
}

void ResizeRequest::done_already() {
  if (JobState* job = answered()) job->end_unchanged(*this);
}

void ResizeRequest::refused(base::Status status, const std::string& reason) {
  if (JobState* job = answered()) job->end_failed(this, to, status, reason);
}

void ResizeRequest::superseded(std::int64_t by_number) {
  if (JobState* job = answered()) job->end_superseded(*this, by_number);
}

void ResizeRequest::put_off() {
  if (JobState* job = answered()) job->take_back(std::move(*this));
}

} // namespace control

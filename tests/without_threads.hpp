// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

#include <pthread.h>

#include <gtest/gtest.h>

/// During its life no thread starts: its stack would want more addresses than there are.
class WithoutThreads {
public:
  WithoutThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 56);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~WithoutThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  WithoutThreads(const WithoutThreads&) = delete;
  WithoutThreads& operator=(const WithoutThreads&) = delete;

private:
  pthread_attr_t before_;
};

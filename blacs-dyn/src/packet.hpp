// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/status.hpp"

namespace blacs_dyn {

/// Numbers and texts in a row of bytes, for one broadcast among processes of one application on one architecture.
class Packet {
public:
  Packet() = default;
  explicit Packet(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

  template <class T> Packet& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof value);
    return *this;
  }
  template <class T> Packet& put(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<std::int64_t>(values.size()));
    append(values.data(), values.size() * sizeof(T));
    return *this;
  }
  Packet& put(const std::string& text) { return put(std::vector<char>(text.begin(), text.end())); }

  template <class T> T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    if (at_ + sizeof(T) > bytes_.size())
      throw base::Error(base::Status::internal, "blacs-dyn: a state packet is shorter than its content");
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  template <class T> std::vector<T> get_vector() {
    const auto count = static_cast<std::size_t>(get<std::int64_t>());
    if (count > (bytes_.size() - at_) / sizeof(T))
      throw base::Error(base::Status::internal, "blacs-dyn: a state packet is shorter than its content");
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return values;
  }
  std::string get_text() {
    const auto chars = get_vector<char>();
    return {chars.begin(), chars.end()};
  }

  std::vector<char>& bytes() { return bytes_; }
  const std::vector<char>& bytes() const { return bytes_; }

private:
  void append(const void* first, std::size_t count) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + count);
    if (count > 0) std::memcpy(bytes_.data() + end, first, count);
  }

  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

} // namespace blacs_dyn

// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace blacs_dyn {

/// Numbers, texts and structs in a row of bytes, for one broadcast among processes of one application on one
/// architecture. A struct says once what is in it, for both directions, beside itself:
///
///     template <class Archive> void fields(Archive& a, Group& u) { a(u.id, u.members, u.host); }
///
/// Lists and structs may be nested. A packet that is shorter than its counts say is an Error, not a crash.
class Packet {
public:
  Packet() = default;
  explicit Packet(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

  template <class T> Packet& put(const T& value) {
    Writer writer{*this};
    writer.write(value);
    return *this;
  }
  template <class T> T get() {
    T value{};
    get(value);
    return value;
  }
  /// Into what is there; fields that are not sent stay as they are. @throws Error{internal}
  template <class T> void get(T& value) {
    Reader reader{*this};
    reader.read(value);
  }
  template <class T> std::vector<T> get_vector() { return get<std::vector<T>>(); }

  std::vector<char>& bytes() { return bytes_; }
  const std::vector<char>& bytes() const { return bytes_; }

private:
  struct Any {
    template <class... T> void operator()(T&...) {}
  };
  template <class T, class = void> struct HasFields : std::false_type {};
  template <class T>
  struct HasFields<T, std::void_t<decltype(fields(std::declval<Any&>(), std::declval<T&>()))>> : std::true_type {};
  template <class T> static constexpr bool is_block = std::is_trivially_copyable_v<T> && !HasFields<T>::value;

  struct Writer {
    Packet& packet;
    template <class... T> void operator()(const T&... values) { (write(values), ...); }
    template <class T> void write(const T& value) {
      if constexpr (HasFields<T>::value) {
        fields(*this, const_cast<T&>(value)); // one list for both directions; a writer changes nothing
      } else {
        static_assert(is_block<T>, "its fields() are missing");
        packet.append(&value, sizeof value);
      }
    }
    void write(const std::string& text) {
      write(static_cast<std::int64_t>(text.size()));
      packet.append(text.data(), text.size());
    }
    template <class T> void write(const std::vector<T>& values) {
      write(static_cast<std::int64_t>(values.size()));
      if constexpr (is_block<T>)
        packet.append(values.data(), values.size() * sizeof(T));
      else
        for (const T& value : values) write(value);
    }
  };

  struct Reader {
    Packet& packet;
    template <class... T> void operator()(T&... values) { (read(values), ...); }
    template <class T> void read(T& value) {
      if constexpr (HasFields<T>::value) {
        fields(*this, value);
      } else {
        static_assert(is_block<T>, "its fields() are missing");
        packet.take(&value, sizeof value);
      }
    }
    void read(std::string& text) {
      text.resize(count(1));
      packet.take(text.data(), text.size());
    }
    template <class T> void read(std::vector<T>& values) {
      if constexpr (is_block<T>) {
        values.resize(count(sizeof(T)));
        packet.take(values.data(), values.size() * sizeof(T));
      } else {
        values.clear();
        values.resize(count(1)); // each takes a byte at least, so a number without end is refused here
        for (T& value : values) read(value);
      }
    }
    /// The number of items that follow, each of at least this number of bytes.
    std::size_t count(std::size_t bytes_each) {
      std::int64_t length = 0;
      read(length);
      if (length < 0 || static_cast<std::uint64_t>(length) > packet.left() / bytes_each) too_short();
      return static_cast<std::size_t>(length);
    }
  };

  [[noreturn]] static void too_short() {
    throw base::Error(base::Status::internal, "blacs-dyn: a state packet is shorter than its content");
  }
  std::size_t left() const { return bytes_.size() - at_; }
  void append(const void* first, std::size_t count) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + count);
    if (count > 0) std::memcpy(bytes_.data() + end, first, count);
  }
  void take(void* to, std::size_t count) {
    if (count > left()) too_short();
    if (count > 0) std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
  }

  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

} // namespace blacs_dyn

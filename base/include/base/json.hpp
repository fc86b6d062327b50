// SPDX-License-Identifier: BSD-3-Clause
// Values as in JSON (RFC 8259), named as in nlohmann-json, which reads and writes their text in json.cpp alone. No
// function that works on values is a template there: those of nlohmann-json were a third of the command.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace base {

class Json {
public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>; ///< in the order in which they were set

  /// A value of another kind than the call takes, a member that is not there, text that is no JSON.
  struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  struct TooDeep : Error {
    using Error::Error;
  };

  Json(std::nullptr_t = nullptr) noexcept;
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  Json(Array items);
  /// bool, whole numbers, floating-point numbers.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Json(T value) : Json(Widest(), widest(value)) {}
  template <class T, std::enable_if_t<!std::is_same_v<T, Json>, int> = 0>
  Json(const std::vector<T>& values) : Json(array()) {
    for (const auto& value : values) push_back(static_cast<const T&>(value));
  }
  template <class T> Json(const std::map<std::string, T>& values) : Json(object()) {
    for (const auto& [name, value] : values) (*this)[name] = value;
  }
  /// An object when each element is a pair that begins with a text, otherwise an array. An array of one Json is made by
  /// array(): for {json} compilers differ, clang takes it for json itself.
  Json(std::initializer_list<Json> elements);
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  static Json array(std::initializer_list<Json> elements = {});
  static Json object();

  /// @throws Error that says where; TooDeep for more than `deepest` arrays and objects in one another.
  static Json parse(std::string_view text, int deepest = 100);
  /// The same, and null for text that is no JSON.
  static Json parse_or_null(std::string_view text);
  /// On one line, or each member on a line of its own with `indent` spaces more. Text that is no UTF-8 is repaired.
  std::string dump(int indent = -1) const;

  bool is_null() const;
  bool is_boolean() const;
  bool is_number() const;
  bool is_number_integer() const;  ///< written without a fraction
  bool is_number_unsigned() const; ///< a whole number, and not below 0
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;

  /// @throws Error when it is of another kind, or a number beyond T.
  template <class T> T get() const;
  const std::string& text() const;
  const Array& items() const;
  Array& items();
  const Object& members() const;
  Object& members();

  std::size_t size() const; ///< elements or members; 0 of null, 1 of anything else
  bool empty() const { return size() == 0; }

  /// Null when there is none, or this is no object.
  const Json* find(std::string_view name) const;
  Json* find(std::string_view name);
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  const Json& at(std::string_view name) const; ///< @throws Error when there is none
  const Json& at(std::size_t index) const;
  /// A new member is null; null becomes an object.
  Json& operator[](std::string_view name);
  const Json& operator[](std::string_view name) const; ///< null when there is none
  Json& operator[](std::size_t index);
  const Json& operator[](std::size_t index) const { return at(index); }
  /// The member, or `otherwise` when there is none. @throws Error for a member of another kind.
  template <class T> T value(std::string_view name, T otherwise) const;
  std::string value(std::string_view name, const char* otherwise) const;

  void update(const Json& object); ///< sets its members here
  void erase(std::string_view name);
  void push_back(Json item); ///< null becomes an array
  Json& front() { return items().front(); }
  Json& back() { return items().back(); }
  const Json& front() const { return items().front(); }
  const Json& back() const { return items().back(); }

  // the elements of an array; null has none. No pointers: find() == end() shall not compile
  Array::iterator begin();
  Array::iterator end();
  Array::const_iterator begin() const;
  Array::const_iterator end() const;

  /// Numbers by value, objects whatever the order of their members.
  friend bool operator==(const Json& a, const Json& b);
  friend bool operator!=(const Json& a, const Json& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const Json& json);

private:
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object>;

  struct Widest {};
  // a call and no more where a number is made: callers never see what a Value is destroyed with
  Json(Widest, bool value) noexcept;
  Json(Widest, std::int64_t value) noexcept;
  Json(Widest, std::uint64_t value) noexcept;
  Json(Widest, double value) noexcept;
  template <class T> static auto widest(T value) {
    if constexpr (std::is_same_v<T, bool>)
      return value;
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(value);
    else if constexpr (std::is_signed_v<T>)
      return static_cast<std::int64_t>(value);
    else
      return static_cast<std::uint64_t>(value);
  }
  const char* kind() const;
  [[noreturn]] void is_no(const char* expected) const;
  bool boolean() const;
  double number() const;
  std::int64_t whole_number(std::int64_t least, std::int64_t most) const;
  std::uint64_t unsigned_number(std::uint64_t most) const;
  const Json& member_for_value(std::string_view name) const;

  Value value_;
};

struct Json::Member {
  std::string name;
  Json value;
};

namespace detail {
template <class T> struct JsonReader;
template <class T> struct JsonReader<std::vector<T>> {
  static std::vector<T> read(const Json& json) {
    std::vector<T> all;
    for (const Json& each : json.items()) all.push_back(each.get<T>());
    return all;
  }
};
template <class T> struct JsonReader<std::map<std::string, T>> {
  static std::map<std::string, T> read(const Json& json) {
    std::map<std::string, T> all;
    for (const auto& [name, value] : json.members()) all[name] = value.template get<T>();
    return all;
  }
};
} // namespace detail

template <class T> T Json::get() const {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, Json>)
    return *this;
  else if constexpr (std::is_same_v<T, bool>)
    return boolean();
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(number());
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return static_cast<T>(whole_number(Limits::min(), Limits::max()));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(unsigned_number(Limits::max()));
  else if constexpr (std::is_same_v<T, std::string>)
    return text();
  else
    return detail::JsonReader<T>::read(*this);
}

template <class T> T Json::value(std::string_view name, T otherwise) const {
  if (!is_object()) is_no("an object");
  const Json* found = find(name);
  return found ? found->get<T>() : std::move(otherwise);
}

} // namespace base

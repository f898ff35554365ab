// Values of keys that look like secrets: passwords, tokens, keys. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pvrdma::ctl::bundle {

// "wifi-psk", "api_token", "key"; not "pkey".
[[nodiscard]] bool is_secret_key(std::string_view key);

// The text with such values replaced by what `placeholder` gives for them: after = or : (to the end
// of the line where the key begins it, else to the next blank; what is in quotes, whole), after
// --password, before the @ of a URL, and private keys in PEM.
[[nodiscard]] std::string without_secrets(
    std::string_view text, const std::function<std::string(std::string_view value)>& placeholder);

}  // namespace pvrdma::ctl::bundle

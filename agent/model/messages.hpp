// SPDX-License-Identifier: GPL-2.0-or-later
// MESSAGE_IDs of the journal entries that an administrator may search for; those of findings are in
// the catalogue. A released id never changes.
#pragma once

#include <string_view>

namespace pvrdma::messages {

inline constexpr std::string_view kStateChanged = "a0b5ec804c05485a8a25a93dbcc7f95c";
inline constexpr std::string_view kBootStep = "935b05665bb84b1a853e6b85c54ef034";
inline constexpr std::string_view kPortChanged = "8f7401075d2b43dc98f92be993076773";
inline constexpr std::string_view kGidChanged = "402d9d6dc6a14e319e330b38740c1791";
inline constexpr std::string_view kActionDone = "a0b5098414144f44b0f1fe2da3e02b83";
inline constexpr std::string_view kActionFailed = "1ccc073cd0554041a575538cdb517789";
inline constexpr std::string_view kConfigBad = "44ed9eb735bc4867a889d11e19d8b44b";
inline constexpr std::string_view kConfigLoaded = "8d6102cbd1e84a9ab3d303d6609d3251";

}  // namespace pvrdma::messages

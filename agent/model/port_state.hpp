// SPDX-License-Identifier: GPL-2.0-or-later
// The states of an RDMA port, by the kernel's numbers.
#pragma once

#include <array>
#include <cstdint>

#include "agent/model/words.hpp"

namespace pvrdma {

// enum ib_port_state (Linux include/rdma/ib_verbs.h), of which nldev, sysfs and libibverbs tell the
// number.
enum class PortState : std::uint8_t { Nop, Down, Init, Armed, Active, ActiveDefer };
template <>
inline constexpr auto kWordsOf<PortState> =
    std::to_array<Word<PortState>>({{PortState::Nop, "NOP"},
                                    {PortState::Down, "DOWN"},
                                    {PortState::Init, "INIT"},
                                    {PortState::Armed, "ARMED"},
                                    {PortState::Active, "ACTIVE"},
                                    {PortState::ActiveDefer, "ACTIVE_DEFER"}});

// The port's physical states (IBTA vol. 1, 14.2.5.6); the words are sysfs's with underscores.
enum class PhysState : std::uint8_t {
  NoStateChange,
  Sleep,
  Polling,
  Disabled,
  Training,
  LinkUp,
  LinkErrorRecovery,
  PhyTest,
};
template <>
inline constexpr auto kWordsOf<PhysState> =
    std::to_array<Word<PhysState>>({{PhysState::NoStateChange, "NO_STATE_CHANGE"},
                                    {PhysState::Sleep, "SLEEP"},
                                    {PhysState::Polling, "POLLING"},
                                    {PhysState::Disabled, "DISABLED"},
                                    {PhysState::Training, "PORT_CONFIGURATION_TRAINING"},
                                    {PhysState::LinkUp, "LINK_UP"},
                                    {PhysState::LinkErrorRecovery, "LINK_ERROR_RECOVERY"},
                                    {PhysState::PhyTest, "PHY_TEST"}});

}  // namespace pvrdma

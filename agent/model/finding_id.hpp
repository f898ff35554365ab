// SPDX-License-Identifier: GPL-2.0-or-later
// FindingId: the findings there are. Each has an entry in the catalogue (agent/model/catalogue.hpp)
// with its name for machines, its severity, its concerns and its sentences.
#pragma once

#include <string_view>

namespace pvrdma {

enum class FindingId {
  // Of the whole machine
  NoAdapter,
  AdapterRemoved,
  DriverNotShipped,
  DriverBuiltIn,
  InitramfsOld,
  ModuleNotShipped,
  ModuleBlocked,
  ModuleRefused,
  DriverInUse,
  HoldersUnknown,
  ReloadForbidden,
  BootScript,
  ReloadWaits,
  LedgerUnusable,
  ExecutorStuck,
  LookStuck,
  ExecutorMissing,
  ConfigBad,
  CustomizationAwaited,
  CustomizationLate,
  ConfigMatchesNothing,
  // Of one adapter
  NoVmxnet3Pair,
  OtherDriver,
  NoCarrier,
  PortDown,
  NetdevLost,
  NetdevElsewhere,
  VerbsUnusable,
  GidMissing,
  GivingUp,
  ActionFailed,
  ActionRefused,
  Slow,
  Unreadable,
  LinkDown,
  MtuDiffers,
  MtuImpossible,
  MtuWaits,
  AddressWaits,
  AddressMissing,
  AddressDuplicate,
  AddressOutside,
  SameSubnet,
  DefaultRoute,
  FirstNic,
  TwoOwners,
  // Only `doctor` looks for these
  NoRdmaFunction,
  NodesMissing,
  NodesClosed,
  VerbsMissing,
  ProviderMissing,
  ProviderMismatch,
  VendorLibraries,
  MemlockLow,
  NoSuchUnit,
  ModuleUnresolved,
  ProbeFailed,
  FunctionClaimed,
  DriverUnsigned,
  ReloadElsewhere,
  LinkProfile,
  GuestUnlisted,
  MixedPassthrough,
  ClockOff,
  DriverCrashed,
  KernelCrashed,
  ContainerNetwork,
  NoKernel,
  KernelWithoutDriver,
  OrderNotSet,
  AgentNotEnabled,
  LinkUnowned,
  // Of pvrdma-agentctl, where the agent gave no answer
  AgentNotRunning,
  AgentNotAnswering,
  AgentNotAccessible,
  AgentBadAnswer,
  ReloadNotFinished,
  // A name that this program does not know: an agent of another version found it
  Other,
};

// "driver-in-use": stable, for machines.
[[nodiscard]] const char* to_string(FindingId id);
// Other where no finding has that name.
[[nodiscard]] FindingId finding_id_from(std::string_view name);

}  // namespace pvrdma

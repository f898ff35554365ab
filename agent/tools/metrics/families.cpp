#include "agent/tools/metrics/families.hpp"

#include <array>

#include "agent/tools/metrics/generators.hpp"

namespace pvrdma::metrics {

namespace {

constexpr std::array kFamilies{
    Family{"pvrdma_adapter_info", "What an adapter is, in its labels; always 1.", Type::Gauge,
           adapter_info},
    Family{"pvrdma_adapter_state", "State of an adapter: 1 for the one it is in, 0 for the others.",
           Type::Gauge, adapter_state},
    Family{"pvrdma_agent_up", "Whether pvrdma-agent answered (1), or does not run or hangs (0).",
           Type::Gauge, agent_up},
    Family{"pvrdma_boot_step_seconds",
           "When a step of this boot was reached, or found as reached, after the kernel's start.",
           Type::Gauge, boot_steps},
    Family{"pvrdma_build_info", "Version of pvrdma-agentctl, which writes this; always 1.",
           Type::Gauge, build_info},
    Family{"pvrdma_driver_reloads_total", "Reloads of vmw_pvrdma by the agent in this boot.",
           Type::Counter, driver_reloads},
    Family{"pvrdma_executor_call_seconds",
           "How long the privileged executor's present call has been under way; 0: there is none.",
           Type::Gauge, executor_call},
    Family{
        "pvrdma_findings",
        "Findings there are now, as pvrdma-agentctl(1) explains them; of the machine where there "
        "is no label function.",
        Type::Gauge, findings},
    Family{"pvrdma_function_rebinds_total",
           "Functions unbound from vmw_pvrdma and bound again by the agent in this boot.",
           Type::Counter, function_rebinds},
    Family{"pvrdma_gid_moves_total",
           "GIDs seen at another index than before, since the agent started.", Type::Counter,
           gid_moves},
    Family{"pvrdma_link_carrier",
           "Whether the adapter's interface has a carrier; absent while it is down.", Type::Gauge,
           link_carrier},
    Family{"pvrdma_link_mtu_bytes", "MTU of the adapter's interface.", Type::Gauge, link_mtu},
    Family{"pvrdma_link_up", "Whether the adapter's interface is administratively up.", Type::Gauge,
           link_up},
    Family{"pvrdma_metrics_timestamp_seconds", "When the agent was asked for these metrics.",
           Type::Gauge, metrics_time},
    Family{"pvrdma_observation_timestamp_seconds",
           "When the agent's look ended that these metrics are from.", Type::Gauge,
           observation_time},
    Family{"pvrdma_port_active_mtu_bytes", "Active MTU of the RDMA port.", Type::Gauge,
           port_active_mtu},
    Family{"pvrdma_port_last_change_timestamp_seconds",
           "When the port's state changed last, or the adapter was first seen.", Type::Gauge,
           port_last_change},
    Family{"pvrdma_port_physical_state_id",
           "Physical state of the port (0: no change, 1: sleep, 2: polling, 3: disabled, 4: "
           "training, 5: link up, 6: link error recovery, 7: phy test).",
           Type::Gauge, port_physical_state},
    Family{"pvrdma_port_state_id",
           "State of the port (0: no change, 1: down, 2: init, 3: armed, 4: active, 5: act defer).",
           Type::Gauge, port_state},
    Family{"pvrdma_port_transitions_total",
           "Changes of the port's state seen since the agent started.", Type::Counter,
           port_transitions},
    Family{
        "pvrdma_state",
        "State of the machine: 1 for the one it is in, 0 for the others; unknown where the agent "
        "gave no answer.",
        Type::Gauge, machine_state},
    Family{"pvrdma_state_timestamp_seconds", "When the machine entered its state.", Type::Gauge,
           machine_state_time},
    Family{"pvrdma_unreadable_fields",
           "Parts of the state that could not be read, whose metrics are absent; of the machine "
           "where there is no label function.",
           Type::Gauge, unreadable_fields},
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace pvrdma::metrics

#include "agent/model/unreadable.hpp"

namespace pvrdma {

namespace {

class Collector {
 public:
  template <typename T>
  void look(const std::string& name, const Field<T>& field) {
    if (const Error* error = field.error()) found_.emplace_back(name, *error);
  }
  [[nodiscard]] Unreadable found() && { return std::move(found_); }

 private:
  Unreadable found_;
};

void look_at_netdev(const Netdev& netdev, Collector& collector) {
  collector.look("carrier", netdev.carrier);
  collector.look("owner", netdev.owner);
}

void look_at_rdma(const RdmaDevice& rdma, Collector& collector) {
  collector.look("uverbs", rdma.uverbs);
  collector.look("node_guid", rdma.node_guid);
  collector.look("rdma_netdev", rdma.netdev);
  collector.look("port.verbs_state", rdma.port.verbs_state);
  collector.look("port.state", rdma.port.state);
  collector.look("port.phys_state", rdma.port.phys_state);
  collector.look("port.active_mtu", rdma.port.active_mtu);
  collector.look("port.link_layer", rdma.port.link_layer);
  for (const Gid& gid : rdma.gids) {
    const std::string path = "gids[" + std::to_string(gid.index) + "].";
    collector.look(path + "type", gid.type);
    collector.look(path + "netdev", gid.netdev);
  }
}

}  // namespace

Unreadable unreadable_of(const Adapter& adapter) {
  Collector collector;
  collector.look("driver", adapter.driver);
  collector.look("net_driver", adapter.net_driver);
  collector.look("netdev", adapter.netdev);
  if (const Netdev* netdev = adapter.netdev.get()) look_at_netdev(*netdev, collector);
  collector.look("rdma_device", adapter.rdma);
  if (const RdmaDevice* rdma = adapter.rdma.get()) look_at_rdma(*rdma, collector);
  return std::move(collector).found();
}

}  // namespace pvrdma

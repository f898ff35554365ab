# fish completion of pvrdma-agentctl(1)
set -l commands health status plan boots wait watch metrics reload acknowledge env mtu mmio selftest verify doctor migrate seal report help
set -l on __fish_seen_subcommand_from

complete -c pvrdma-agentctl -f
complete -c pvrdma-agentctl -l json -d 'Print JSON'
complete -c pvrdma-agentctl -l socket -r -F -d 'Where the agent listens'
complete -c pvrdma-agentctl -s h -l help -d 'Print help'
complete -c pvrdma-agentctl -l version -d 'Print the version'

set -l first "not $on $commands"
complete -c pvrdma-agentctl -n $first -a health -d 'The state, the findings with their remedies, every adapter'
complete -c pvrdma-agentctl -n $first -a status -d 'One line for each adapter'
complete -c pvrdma-agentctl -n $first -a plan -d 'What the agent would do now, and why'
complete -c pvrdma-agentctl -n $first -a boots -d 'How long each step of the last boots took'
complete -c pvrdma-agentctl -n $first -a wait -d 'Wait until the adapters are ready'
complete -c pvrdma-agentctl -n $first -a watch -d 'Print a line for each change'
complete -c pvrdma-agentctl -n $first -a metrics -d 'State, ports and findings as metrics, for Prometheus'
complete -c pvrdma-agentctl -n $first -a reload -d 'Unload vmw_pvrdma and load it again'
complete -c pvrdma-agentctl -n $first -a acknowledge -d 'An adapter that was removed is not missed'
complete -c pvrdma-agentctl -n $first -a env -d 'Variables for applications'
complete -c pvrdma-agentctl -n $first -a mtu -d 'The largest packet that reaches a host unfragmented'
complete -c pvrdma-agentctl -n $first -a mmio -d 'The settings of a VM for the memory of passed-through GPUs'
complete -c pvrdma-agentctl -n $first -a selftest -d 'Prove that messages pass through a device'
complete -c pvrdma-agentctl -n $first -a verify -d 'Does RDMA work between this VM and another'
complete -c pvrdma-agentctl -n $first -a doctor -d 'Is RDMA usable here, and if not, who has to do what'
complete -c pvrdma-agentctl -n $first -a migrate -d 'Find the reload of rc.local and its like, and retire it'
complete -c pvrdma-agentctl -n $first -a seal -d 'What a template would hand down to its clones'
complete -c pvrdma-agentctl -n $first -a report -d 'All that is known here, in one JSON document'
complete -c pvrdma-agentctl -n $first -a help -d 'Print the options of a verb'
complete -c pvrdma-agentctl -n "$on help" -a "$commands"

complete -c pvrdma-agentctl -n "$on wait watch mtu selftest" -l timeout -x -d 'How long at most'
complete -c pvrdma-agentctl -n "$on verify" -l listen -d 'Wait for one peer'
complete -c pvrdma-agentctl -n "$on verify" -l adapter -x -a '(command ls /sys/class/infiniband 2>/dev/null)' -d 'The one to use'
complete -c pvrdma-agentctl -n "$on verify" -l port -x -d 'TCP port of the listener'
complete -c pvrdma-agentctl -n "$on verify" -l token-file -r -F -d 'A secret that both have'
complete -c pvrdma-agentctl -n "$on verify" -l wait -x -d 'How long for the other VM'
complete -c pvrdma-agentctl -n "$on verify" -l duration -x -d 'How long to measure'
complete -c pvrdma-agentctl -n "$on verify" -l expect -x -d 'What is enough'
complete -c pvrdma-agentctl -n "$on verify" -l line-rate -x -d 'Of the NICs of the hosts'
complete -c pvrdma-agentctl -n "$on verify" -l beside -d 'Also while a job holds the adapter'
complete -c pvrdma-agentctl -n "$on verify" -a '(__fish_print_hostnames)' -d Peer
complete -c pvrdma-agentctl -n "$on wait" -l for -x -a 'ready settled' -d 'What to wait for'
complete -c pvrdma-agentctl -n "$on env" -l format -x -a 'shell systemd' -d 'Form of the variables'
complete -c pvrdma-agentctl -n "$on reload env selftest" -a '(command ls /sys/class/infiniband 2>/dev/null)' -d Adapter
complete -c pvrdma-agentctl -n "$on doctor" -l unit -x -a "(systemctl list-units --type=service --plain --no-legend 2>/dev/null | string split -f1 ' ')" -d 'Look at its limit of locked memory'
complete -c pvrdma-agentctl -n "$on doctor" -l host-admin -d 'Only what the vSphere administrator is to look at'
complete -c pvrdma-agentctl -n "$on doctor" -l next-boot -d 'What the next boot will find'
complete -c pvrdma-agentctl -n "$on migrate" -l apply -d 'Comment out simple lines of it, with a backup'
complete -c pvrdma-agentctl -n "$on migrate" -l revert -d 'Put back what --apply changed'
complete -c pvrdma-agentctl -n "$on seal" -l check -d 'Only tell'
complete -c pvrdma-agentctl -n "$on doctor migrate seal" -l root -x -a '(__fish_complete_directories)' -d 'Where the system is mounted'
complete -c pvrdma-agentctl -n "$on report" -s o -l output -r -F -d 'A new file to write it to'
complete -c pvrdma-agentctl -n "$on metrics" -s o -l output -r -F -d 'A file to replace in one step'
complete -c pvrdma-agentctl -n "$on metrics" -l watch -d 'Replace it on each change and every minute'
complete -c pvrdma-agentctl -n "$on mtu" -s 4 -l ipv4 -d 'Only over IPv4'
complete -c pvrdma-agentctl -n "$on mtu" -s 6 -l ipv6 -d 'Only over IPv6'
complete -c pvrdma-agentctl -n "$on mtu" -l expect -x -d 'Size of packets that are to pass'
complete -c pvrdma-agentctl -n "$on mtu" -l adapter -x -a '(command ls /sys/class/infiniband 2>/dev/null)' -d 'Measure from its interface'
complete -c pvrdma-agentctl -n "$on mtu" -a '(__fish_print_hostnames)' -d Host

#!/usr/bin/env bash
# A real SLURM on this one machine, for the tests marked `slurm`: two nodes of two cores, on the loopback device.
#   cluster.sh start DIR   installs it if missing (Debian, root), starts it, prints `export SLURM_CONF=…`
#   cluster.sh node  DIR N (re)starts the daemon of node N
#   cluster.sh stop  DIR   stops everything
# DIR holds configuration, state, logs and pid files.
set -euo pipefail
verb=${1:?start, node or stop} dir=${2:?a folder}
export SLURM_CONF=$dir/slurm.conf
case $verb in
start)
  if ! command -v slurmctld >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq slurm-wlm munge >/dev/null
  fi
  mkdir -p "$dir"/{state,log} /run/munge
  chown munge: /run/munge
  [ -f /etc/munge/munge.key ] || mungekey -c
  munge -n >/dev/null 2>&1 || runuser -u munge -- munged
  host=$(hostname -s)
  cat >"$SLURM_CONF" <<CONF
ClusterName=attnlab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16917
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=cred_expire=10
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
SlurmdTimeout=5
KillWait=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
NodeName=node[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17101-17102] CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  slurmctld && slurmd -N node1 && slurmd -N node2
  for _ in $(seq 80); do [ "$(sinfo -h -N -o %t 2>/dev/null | grep -c idle)" = 2 ] && break; sleep 0.25; done
  sinfo -h | grep -q idle || { echo "no idle node; see $dir/log" >&2; exit 1; }
  echo "export SLURM_CONF=$SLURM_CONF" ;;
node) slurmd -N "node${3:?number of the node}" ;;
stop)
  scontrol shutdown || true
  for _ in $(seq 40); do pgrep -f "slurmd -N node[12]$" >/dev/null || break; sleep 0.25; done ;;
*) echo "usage: cluster.sh start|node|stop DIR" >&2; exit 2 ;;
esac

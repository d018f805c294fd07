//! A scheduler and executors, each this very program started again.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;

/// Says what a process that was started again is to be.
const ROLE: &str = "FLEET_TEST_ROLE";

/// Ports, the scheduler's first.
const PORTS: &str = "FLEET_TEST_PORTS";

/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(60);

/// Servers that run, and end with this.
pub struct Servers {
    scheduler: Child,
    port: u16,
    executors: Vec<Child>,
}

impl Servers {
    /// Starts a scheduler, and so many executors.
    pub fn start(executors: usize) -> Servers {
        let port = free_port();
        let scheduler = again("scheduler", &[port]);
        wait_for(port);
        let mut servers = Servers { scheduler, port, executors: Vec::new() };
        (0..executors).for_each(|_| servers.add_one());
        servers
    }

    /// Returns what `-engine` says to ask them, however little there is to look at.
    pub fn engine(&self) -> String {
        format!("df://127.0.0.1:{}?rows=0", self.port)
    }

    /// Starts one more executor.
    pub fn add_one(&mut self) {
        let (flight, grpc) = (free_port(), free_port());
        self.executors.push(again("executor", &[self.port, flight, grpc]));
        wait_for(flight);
    }

    /// Kills an executor.
    pub fn kill_one(&mut self) {
        let mut one = self.executors.remove(0);
        one.kill().expect("it is killed");
        one.wait().expect("it ends");
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for it in self.executors.iter_mut().chain([&mut self.scheduler]) {
            drop(it.kill());
            drop(it.wait());
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn wait_for(port: u16) {
    let (began, address) = (Instant::now(), SocketAddr::from(([127, 0, 0, 1], port)));
    while TcpStream::connect(address).is_err() {
        assert!(began.elapsed() < PATIENCE, "nothing listens at {port}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn again(role: &str, ports: &[u16]) -> Child {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    Command::new(std::env::current_exe().expect("it has a path"))
        .args(["servers::serve", "--exact", "--nocapture"])
        .env(ROLE, role)
        .env(PORTS, ports.join(" "))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// What a process does that was started to be a server; without a role, nothing.
#[test]
fn serve() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let ports = std::env::var(PORTS).expect("ports");
    let ports: Vec<u16> = ports.split(' ').map(|it| it.parse().expect("a port")).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(32 << 20)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        match (&*role, &ports[..]) {
            ("scheduler", [port]) => {
                let config = SchedulerConfig {
                    bind_port: *port,
                    executor_timeout_seconds: 10,
                    expire_dead_executor_interval_seconds: 2,
                    no_executors_grace_period_seconds: 10,
                    ..SchedulerConfig::default()
                };
                let cluster = BallistaCluster::new_from_config(&config).await.expect("a cluster");
                let address = SocketAddr::from(([127, 0, 0, 1], *port));
                start_server(cluster, address, Arc::new(config)).await.expect("it serves");
            }
            ("executor", [scheduler, flight, grpc]) => {
                let folder = tempfile::tempdir().expect("a folder");
                let config = ExecutorProcessConfig {
                    scheduler_host: "127.0.0.1".to_owned(),
                    scheduler_port: *scheduler,
                    port: *flight,
                    grpc_port: *grpc,
                    vcores: 2,
                    work_dir: Some(folder.path().to_string_lossy().into_owned()),
                    executor_heartbeat_interval_seconds: 2,
                    ..ExecutorProcessConfig::default()
                };
                start_executor_process(Arc::new(config)).await.expect("it serves");
            }
            _ => panic!("no role: {role} {ports:?}"),
        }
    });
}

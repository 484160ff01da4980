//! Things that tests share: a host that lives in memory and fails on purpose, and the suite
//! that keeps it as unkind as the real one.

pub mod chat;
pub mod conformance;
pub mod disk;
pub mod host;
pub mod loopback;
pub mod model;
pub mod night;
pub mod parallel;
pub mod process;
pub mod random;
pub mod repository;
pub mod stream_events;

pub use chat::{ChatMessage, ChatMood, SimChat};
pub use disk::Disk;
pub use host::{Ended, Kill, Moment, PowerLoss, SimHost, SimServer};
pub use process::SimProcess;
pub use random::Random;
pub use repository::SimRepository;

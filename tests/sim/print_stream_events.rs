//! Prints the events of a client's stream from standard input, for the tests of real clients:
//! `stream-events CLIENT`.

use std::io::Read;

fn main() {
    let client = std::env::args().nth(1).expect("the name of a client");
    let mut stream = String::new();
    std::io::stdin().read_to_string(&mut stream).expect("a stream");
    let client = client.parse().expect("a known client");
    print!("{}", onloop_tests::stream_events::read(client, &stream).0);
}

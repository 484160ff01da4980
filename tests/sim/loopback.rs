//! A server on this machine for cases about `http`, and what it answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;

/// What a server was asked.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Method and path.
    pub line: String,
    /// Headers, as `name: value` with the name in lower case.
    pub headers: Vec<String>,
    /// The body.
    pub body: String,
}

/// What the server of a case answers: status and body; `None`: nothing, ever.
///
/// A server with `raw` says that, whatever it is asked, and closes the connection. `echo` repeats method, path, the header `x-case` and the body.
pub fn answer(behaviour: &Value, asked: &Asked) -> Option<(u16, String)> {
    if behaviour["silent"] == true {
        return None;
    }
    let status = behaviour["status"].as_u64().map_or(200, |n| u16::try_from(n).unwrap_or(500));
    if behaviour["echo"] == true {
        let header = asked.headers.iter().find_map(|header| header.strip_prefix("x-case: "));
        let text = format!("{} {} {}", asked.line, header.unwrap_or("-"), asked.body);
        return Some((status, text));
    }
    Some((status, behaviour["text"].as_str().unwrap_or_default().to_owned()))
}

/// A real server. It lives until the process ends: a case is over before anybody could tell.
#[derive(Debug)]
pub struct LoopbackServer;

impl LoopbackServer {
    /// Starts a server and returns its origin.
    pub fn start(behaviour: &Value) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let behaviour = behaviour.clone();
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming().flatten() {
                let Some(asked) = read(&stream) else { continue };
                if let Some(raw) = behaviour["raw"].as_str() {
                    // The client may have gone away.
                    let _ = (&stream).write_all(raw.as_bytes());
                    continue;
                }
                match answer(&behaviour, &asked) {
                    Some((status, body)) => write(&stream, status, &body),
                    // Closing it would be an answer.
                    None => silent.push(stream),
                }
            }
        });
        format!("http://{address}")
    }
}

/// One question; `None`: it is not one.
pub fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let line = line.trim_end().strip_suffix(" HTTP/1.1")?.to_owned();
    let (mut headers, mut length) = (Vec::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        let name = name.to_lowercase();
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        headers.push(format!("{name}: {value}"));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { line, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

/// One answer, and the end of the connection.
pub fn write(mut stream: &TcpStream, status: u16, body: &str) {
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-length: {}\r\nlocation: /elsewhere\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // The client may have gone away.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

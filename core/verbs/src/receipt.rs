//! `onloop receipt`: what the record of a run proves, as JSON or signed for others.

use serde_json::Value;

use onloop_documents::attestation::{describe, statement, subject};
use onloop_documents::envelope::{EnvelopeError, PublicKey};
use onloop_documents::{self as documents, ledger};
use onloop_effect::{Durability, Exit, Expect, Failure, GitRequest, Io};
use onloop_engine::receipt_key;
use onloop_engine::select::open;
use onloop_engine::store::Store;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Arguments of `onloop receipt RUN_ID`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ReceiptArgs {
    /// Run id
    pub run_id: String,
    /// Print JSON; this is what happens anyway
    #[arg(long)]
    pub json: bool,
    /// What is printed
    #[arg(long, value_enum, default_value = "hotl", value_name = "F")]
    pub format: ReceiptFormat,
    /// Write it to a file
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
}

/// What `onloop receipt` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ReceiptFormat {
    /// What the record proves, unsigned
    #[default]
    Hotl,
    /// A statement of in-toto about the verified commit, signed
    Intoto,
}

/// Arguments of `onloop receipt verify`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ReceiptVerifyArgs {
    /// The signed receipt
    pub file: String,
    /// The public key of whoever signed it [default: that of this state home]
    #[arg(long, value_name = "FILE")]
    pub key: Option<String>,
}

/// `onloop receipt RUN_ID`: what the record proves, without any output text.
pub async fn receipt(io: &Io, args: &ReceiptArgs) -> Exit {
    match print(io, args).await {
        Ok(()) => Exit::Done,
        Err(exit) => exit,
    }
}

async fn print(io: &Io, args: &ReceiptArgs) -> Result<(), Exit> {
    let store = open(io, Some(&args.run_id)).await?;
    let document = match args.format {
        ReceiptFormat::Hotl => {
            let receipt = documents::receipt::receipt(store.run());
            let text = serde_json::to_string_pretty(&receipt);
            (text.expect("a receipt has only string keys") + "\n").into_bytes()
        }
        ReceiptFormat::Intoto => signed(io, &store).await?,
    };
    let Some(out) = &args.out else {
        io.result(String::from_utf8_lossy(&document)).await;
        return Ok(());
    };
    match io.write(out, document, Expect::Any, Durability::Durable).await {
        Ok(_) => Ok(()),
        Err(failure) => Err(refuse(io, &failure.message).await),
    }
}

/// The signed receipt, which is also kept beside the commit that it is about.
async fn signed(io: &Io, store: &Store) -> Result<Vec<u8>, Exit> {
    let id = &store.run().id;
    let read = io.read(&store.paths().ledger(), limits::RECORD_BYTES).await;
    let (bytes, _) = match read {
        Ok(read) => read,
        Err(failure) => return Err(refuse(io, &failure.message).await),
    };
    // What is stated comes from these bytes alone.
    let ledger = match ledger::read(&bytes, None) {
        Ok(ledger) => ledger,
        Err(error) => return Err(refuse(io, &error.to_string()).await),
    };
    let statement = match statement(&ledger, &bytes[..ledger.whole_bytes]) {
        Ok(statement) => statement,
        Err(why) => return Err(refuse(io, &format!("run {id}: {why}")).await),
    };
    let payload = serde_json::to_vec(&statement).expect("a statement has only string keys");
    let key = match receipt_key::key(io).await {
        Ok(key) => key,
        Err(failure) => return Err(refuse(io, &failure.message).await),
    };
    let envelope = key.sign(&payload);
    if let Err(failure) = keep_beside(io, store, &envelope).await {
        let why = text::one_line(&failure.message);
        io.note(format!("warning: it is not kept beside its commit: {why}")).await;
    }
    Ok(envelope)
}

async fn keep_beside(io: &Io, store: &Store, envelope: &[u8]) -> Result<(), Failure> {
    let run = store.run();
    let Some(commit) = subject(run) else { return Ok(()) };
    let place = &run.place;
    let there = io.stat(&place.execution_root).await.is_ok();
    let root = if there { Some(&place.execution_root) } else { place.repo_root.as_ref() };
    let Some(cwd) = root.cloned() else { return Ok(()) };
    let text = String::from_utf8_lossy(envelope).into_owned();
    io.git(GitRequest::Note { cwd, commit: commit.to_owned(), text, at: io.now() }).await
}

/// `onloop receipt key`: the public key, for whoever verifies.
pub async fn receipt_key(io: &Io) -> Exit {
    match receipt_key::key(io).await {
        Ok(key) => {
            io.result(key.public().to_pem()).await;
            Exit::Done
        }
        Err(failure) => refuse(io, &failure.message).await,
    }
}

/// `onloop receipt verify`: whether a signed receipt is as it was signed, and what it says.
pub async fn receipt_verify(io: &Io, args: &ReceiptVerifyArgs) -> Exit {
    match believed(io, args).await {
        Ok((statement, key)) => {
            let mut said = String::from("ok: it is as it was signed\n");
            for line in describe(&statement) {
                said += &format!("  {line}\n");
            }
            io.result(said + &format!("  {:<9}{}\n", "key", key.id())).await;
            Exit::Done
        }
        Err(why) => {
            let file = text::one_line(&args.file);
            io.note(format!("error: {file}: {}", text::printable(&why).trim_end())).await;
            Exit::Failed
        }
    }
}

async fn believed(io: &Io, args: &ReceiptVerifyArgs) -> Result<(Value, PublicKey), String> {
    let key = match &args.key {
        Some(path) => {
            let (bytes, _) = io.read(path, 64 * 1024).await.map_err(|failure| failure.message)?;
            let named = |error: EnvelopeError| format!("the key {}: {error}", text::one_line(path));
            PublicKey::from_pem(&String::from_utf8_lossy(&bytes)).map_err(named)?
        }
        None => {
            let own = receipt_key::existing(io).await.map_err(|failure| failure.message)?;
            let missing = "there is no key here to verify it with; name the public key of whoever \
                           signed it with --key FILE (`onloop receipt key` prints it there)";
            own.ok_or_else(|| missing.to_owned())?.public()
        }
    };
    let read = io.read(&args.file, limits::RECEIPT_BYTES).await;
    let (bytes, _) = read.map_err(|failure| failure.message)?;
    let payload = key.verify(&bytes).map_err(|error| error.to_string())?;
    let statement: Value = serde_json::from_slice(&payload)
        .map_err(|_| "what is signed is not a statement of in-toto".to_owned())?;
    if statement["_type"] != "https://in-toto.io/Statement/v1" {
        return Err("what is signed is not a statement of in-toto".to_owned());
    }
    Ok((statement, key))
}

async fn refuse(io: &Io, why: &str) -> Exit {
    io.note(format!("error: {}", text::printable(why).trim_end())).await;
    Exit::Refused
}

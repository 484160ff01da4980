//! `onloop receipt`: what the record of a run proves, as JSON or signed for others.

use serde_json::Value;

use onloop_documents::attestation::{describe, statement, subject};
use onloop_documents::envelope::{EnvelopeError, PublicKey};
use onloop_documents::{self as documents, ledger};
use onloop_effect::{Durability, Exit, Expect, Failure, GitRequest, Io};
use onloop_engine::error::{CommandError, ErrorKind, unusable_record};
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::state::receipt_key;
use onloop_engine::state::store::{Store, StoreError};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Arguments of `onloop receipt RUN_ID`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ReceiptArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
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
    /// The public key of the signer [default: that of this state home]
    #[arg(long, value_name = "FILE")]
    pub key: Option<String>,
}

/// `onloop receipt RUN_ID`: what the record proves, without any output text.
pub(crate) async fn receipt(io: &Io, args: &ReceiptArgs) -> Result<Exit, CommandError> {
    let store = open(io, args.run.as_deref(), Fitting::Latest).await?;
    let document = match args.format {
        ReceiptFormat::Hotl => {
            format!("{:#}\n", documents::receipt::receipt(store.run())).into_bytes()
        }
        ReceiptFormat::Intoto => signed(io, &store).await?,
    };
    let Some(out) = &args.out else {
        io.result(String::from_utf8_lossy(&document)).await;
        return Ok(Exit::Done);
    };
    io.write(out, document, Expect::Any, Durability::Durable).await?;
    Ok(Exit::Done)
}

/// The signed receipt, which is also kept beside the commit that it is about.
async fn signed(io: &Io, store: &Store) -> Result<Vec<u8>, CommandError> {
    let id = &store.run().id;
    let (bytes, _) = io.read(&store.paths().ledger(), limits::RECORD_BYTES).await?;
    // What is stated comes from these bytes alone.
    let ledger = match ledger::read(&bytes, None) {
        Ok(ledger) => ledger,
        Err(error) => {
            let error = StoreError::Unreadable(error.to_string());
            return Err(unusable_record(io, id, error).await);
        }
    };
    let statement = statement(&ledger, &bytes[..ledger.whole_bytes])
        .map_err(|why| CommandError::refused(format!("run `{id}`: {why}")))?;
    let payload = serde_json::to_vec(&statement).expect("a statement has only string keys");
    let key = receipt_key::key(io).await?;
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

/// `onloop receipt key`: the public key, for the verifier.
pub async fn receipt_key(io: &Io) -> Result<Exit, CommandError> {
    io.result(receipt_key::key(io).await?.public().to_pem()).await;
    Ok(Exit::Done)
}

/// `onloop receipt verify`: whether a signed receipt is as it was signed, and what it says.
pub(crate) async fn receipt_verify(
    io: &Io,
    args: &ReceiptVerifyArgs,
) -> Result<Exit, CommandError> {
    let (statement, key) = believed(io, args).await.map_err(|error| {
        let what = format!("the receipt `{}` was not verified", text::one_line(&args.file));
        error.of_kind(ErrorKind::Failed).context(what)
    })?;
    let mut said = String::from("ok: it is as it was signed\n");
    for line in describe(&statement) {
        said += &format!("  {line}\n");
    }
    io.result(said + &format!("  {:<9}{}\n", "key", key.id())).await;
    Ok(Exit::Done)
}

async fn believed(io: &Io, args: &ReceiptVerifyArgs) -> Result<(Value, PublicKey), CommandError> {
    let key = match &args.key {
        Some(path) => {
            let (bytes, _) = io.read(path, 64 * 1024).await?;
            let named = |error: EnvelopeError| {
                CommandError::failed(format!("the key `{}`: {error}", text::one_line(path)))
            };
            PublicKey::from_pem(&String::from_utf8_lossy(&bytes)).map_err(named)?
        }
        None => {
            let own = receipt_key::existing(io).await?;
            let missing = || {
                CommandError::failed("there is no key here to verify it with").fix(
                    "name the public key of the signer with --key FILE (`onloop receipt key` \
                     prints it on their machine)",
                )
            };
            own.ok_or_else(missing)?.public()
        }
    };
    let (bytes, _) = io.read(&args.file, limits::RECEIPT_BYTES).await?;
    let payload = key.verify(&bytes).map_err(|error| CommandError::failed(error.to_string()))?;
    let other = || CommandError::failed("what is signed is not a statement of in-toto");
    let statement: Value = serde_json::from_slice(&payload).map_err(|_| other())?;
    if statement["_type"] != "https://in-toto.io/Statement/v1" {
        return Err(other());
    }
    Ok((statement, key))
}

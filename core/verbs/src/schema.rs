//! `onloop schema`: the JSON Schema of a document.

use onloop_documents::schema::{SchemaDocument, schema as text_of};
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;

/// `onloop schema`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct SchemaArgs {
    /// The document
    #[arg(value_enum)]
    pub document: SchemaDocument,
}

/// Prints the schema of a document.
pub(crate) async fn schema(io: &Io, args: &SchemaArgs) -> Result<Exit, CommandError> {
    io.result(text_of(args.document)).await;
    Ok(Exit::Done)
}

//! `onloop schema`: the JSON Schema of a document.

use onloop_documents::schema::{SchemaDocument, schema as text_of};
use onloop_effect::{Exit, Io};

/// `onloop schema`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct SchemaArgs {
    /// The document
    #[arg(value_enum)]
    pub document: SchemaDocument,
}

/// Prints the schema of a document.
pub async fn schema(io: &Io, args: &SchemaArgs) -> Exit {
    io.result(text_of(args.document)).await;
    Exit::Done
}

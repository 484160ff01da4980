//! `onloop schema`: the JSON Schema of a document.

use crate::documents::schema::{SchemaDocument, schema as text_of};
use crate::effect::{Exit, Io};
use crate::engine::error::CommandError;

/// `onloop schema`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct SchemaArgs {
    /// The document
    #[cfg_attr(feature = "cli", arg(value_enum))]
    pub document: SchemaDocument,
}

/// Prints the schema of a document.
pub async fn schema(io: &Io, args: &SchemaArgs) -> Result<Exit, CommandError> {
    io.result(text_of(args.document)).await;
    Ok(Exit::Done)
}

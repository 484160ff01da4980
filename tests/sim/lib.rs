//! Things that tests share.

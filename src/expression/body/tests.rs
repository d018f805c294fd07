//! Bodies through schemas.

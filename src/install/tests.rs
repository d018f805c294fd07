//! Folders and mirrors in, what is installed and locked out.

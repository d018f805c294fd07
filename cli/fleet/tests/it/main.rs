//! Fleets from outside: the program, its files, and what it prints.

mod asking;
mod foreign;
mod index;
mod list;
mod running;
mod support;

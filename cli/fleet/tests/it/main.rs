//! Fleets from outside: the program, its files, and what it prints.

mod asking;
mod engines;
mod foreign;
mod index;
mod list;
mod running;
mod support;

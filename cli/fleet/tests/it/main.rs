//! Fleets from outside: the program, its files, and what it prints.

mod alike;
mod asking;
mod engines;
mod foreign;
mod index;
mod lake;
mod list;
mod plans;
mod real;
mod running;
mod stores;
mod support;
mod trouble;

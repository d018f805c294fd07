//! Provisioners, as their blocks are read and checked.

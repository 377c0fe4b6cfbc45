//! Nothing: the drivers are tests.

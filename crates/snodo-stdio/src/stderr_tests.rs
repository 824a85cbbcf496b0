//! What is kept, and what is shown.

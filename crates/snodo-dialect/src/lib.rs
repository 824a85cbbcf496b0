//! What each version of the Model Context Protocol says, and how it wants to be spoken to.

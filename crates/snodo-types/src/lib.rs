//! The words of the Model Context Protocol: messages, nouns, errors, envelopes. No runtime.

//! Order, withdrawal and notices.

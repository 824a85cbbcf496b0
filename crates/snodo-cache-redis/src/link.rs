//! The connection to Redis: made when it is needed, and anew when it broke.

use std::fmt;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, FromRedisValue, Pipeline, RedisError};
use snodo::cache::StoreError;
use tokio::sync::Mutex;

/// One connection for all who ask, with one thing after the other on it.
pub(crate) struct Link {
    client: Client,
    /// For connecting, and for each answer.
    pub(crate) timeout: Duration,
    connection: Mutex<Option<MultiplexedConnection>>,
}

impl Link {
    /// Nothing is connected yet.
    pub(crate) fn new(url: &str) -> Result<Self, StoreError> {
        // The URL may hold a password: it is not repeated.
        let client = Client::open(url)
            .map_err(|error| StoreError::new(format!("no URL of a Redis: {}", error.category())))?;
        Ok(Self { client, timeout: TIMEOUT, connection: Mutex::new(None) })
    }

    /// Sends commands together and reads their answers.
    pub(crate) async fn ask<T: FromRedisValue>(
        &self,
        commands: &Pipeline,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection().await?;
        match commands.query_async(&mut connection).await {
            Ok(answer) => Ok(answer),
            Err(error) => {
                if breaks(&error) {
                    // Whoever comes next connects anew; others may have done so already.
                    *self.connection.lock().await = None;
                }
                Err(failed(&error))
            }
        }
    }

    async fn connection(&self) -> Result<MultiplexedConnection, StoreError> {
        let mut connection = self.connection.lock().await;
        if let Some(connection) = &*connection {
            return Ok(connection.clone());
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(Some(self.timeout));
        let connecting = self.client.get_multiplexed_async_connection_with_config(&config);
        let made = connecting.await.map_err(|error| failed(&error))?;
        Ok(connection.insert(made).clone())
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Whether the connection is of no use any more. One that did not answer in time is not either:
/// nobody knows when it will.
fn breaks(error: &RedisError) -> bool {
    error.is_io_error() || error.is_timeout() || error.is_connection_dropped()
}

fn failed(error: &RedisError) -> StoreError {
    StoreError::new(format!("Redis: {error}"))
}

/// Half of what a client waits for a store.
const TIMEOUT: Duration = Duration::from_millis(500);

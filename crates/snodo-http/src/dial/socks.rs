//! The three messages of SOCKS5 (RFC 1928, RFC 1929).
//!
//! They are written out here because the crates that know them bring a second set of IO traits.

use std::io::{self, ErrorKind};
use std::net::IpAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Where the proxy is to connect to.
pub(super) enum Place<'a> {
    Address(IpAddr, u16),
    Name(&'a str, u16),
}

/// Asks a proxy for a connection; from then on the stream is one with the place.
pub(super) async fn ask(
    stream: &mut TcpStream,
    login: Option<(&str, &str)>,
    place: Place<'_>,
) -> io::Result<()> {
    let methods: &[u8] =
        if login.is_some() { &[VERSION, 2, NO_LOGIN, LOGIN] } else { &[VERSION, 1, NO_LOGIN] };
    stream.write_all(methods).await?;
    let [version, method] = read(stream).await?;
    match (version, method, login) {
        (VERSION, NO_LOGIN, _) => {}
        (VERSION, LOGIN, Some(login)) => log_in(stream, login).await?,
        (VERSION, ..) => return Err(refused("the proxy wants a user name and a password")),
        _ => return Err(io::Error::new(ErrorKind::InvalidData, "the proxy does not speak SOCKS5")),
    }
    stream.write_all(&request(place)?).await?;
    let [version, outcome, _, kind] = read(stream).await?;
    if version != VERSION {
        return Err(io::Error::new(ErrorKind::InvalidData, "the proxy does not speak SOCKS5"));
    }
    if outcome != 0 {
        return Err(refused(meaning(outcome)));
    }
    // The address that the proxy connected from, and its port, say nothing here.
    let length = match kind {
        IPV4 => 4,
        IPV6 => 16,
        NAME => {
            let [length] = read(stream).await?;
            usize::from(length)
        }
        _ => return Err(io::Error::new(ErrorKind::InvalidData, "the proxy answers nonsense")),
    };
    let mut rest = vec![0; length + 2];
    stream.read_exact(&mut rest).await?;
    Ok(())
}

async fn log_in(stream: &mut TcpStream, (user, password): (&str, &str)) -> io::Result<()> {
    let mut message = vec![1];
    for part in [user, password] {
        message.push(short(part)?);
        message.extend_from_slice(part.as_bytes());
    }
    stream.write_all(&message).await?;
    let [_, outcome] = read(stream).await?;
    if outcome == 0 { Ok(()) } else { Err(refused("the proxy does not take the password")) }
}

fn request(place: Place<'_>) -> io::Result<Vec<u8>> {
    let mut message = vec![VERSION, CONNECT, 0];
    let port = match place {
        Place::Address(IpAddr::V4(address), port) => {
            message.push(IPV4);
            message.extend_from_slice(&address.octets());
            port
        }
        Place::Address(IpAddr::V6(address), port) => {
            message.push(IPV6);
            message.extend_from_slice(&address.octets());
            port
        }
        Place::Name(name, port) => {
            message.extend_from_slice(&[NAME, short(name)?]);
            message.extend_from_slice(name.as_bytes());
            port
        }
    };
    message.extend_from_slice(&port.to_be_bytes());
    Ok(message)
}

async fn read<const N: usize>(stream: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

fn short(text: &str) -> io::Result<u8> {
    u8::try_from(text.len())
        .map_err(|_| io::Error::new(ErrorKind::InvalidInput, "it is too long for SOCKS5"))
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(ErrorKind::ConnectionRefused, why)
}

/// RFC 1928, section 6.
fn meaning(outcome: u8) -> &'static str {
    match outcome {
        2 => "the proxy's rules do not allow it",
        3 => "the proxy finds no way to the network",
        4 => "the proxy does not reach the host",
        5 => "the host refused the proxy's connection",
        6 => "the proxy was not answered in time",
        7 => "the proxy does not connect",
        8 => "the proxy does not know this kind of address",
        _ => "the proxy failed",
    }
}

const VERSION: u8 = 5;
const CONNECT: u8 = 1;
const NO_LOGIN: u8 = 0;
const LOGIN: u8 = 2;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

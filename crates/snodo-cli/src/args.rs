//! The words of the command line, as clap reads them.
//!
//! What a word means beyond its form is read elsewhere ([`Settings`](crate::settings::Settings),
//! [`Ask`](crate::ask::Ask)): clap shows in its messages what it could not read, and the values of
//! `--env` and `--header` may be secrets.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};
use snodo::ProtocolVersion;

/// Talk to MCP servers: inspect them, call their tools, read their resources.
///
/// TARGET is the URL of a server (http or https), the name of one in your configuration, a command
/// line in one word that starts one, or `demo`, a small server that is built in. In place of TARGET
/// the command may stand at the end, after `--`.
#[derive(Parser)]
#[command(name = "snodo", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options stand before the command or after it; what stands after it wins, and lists are joined.
#[derive(Args)]
pub(crate) struct Options {
    /// Write exactly one JSON document to the output, whatever happens
    #[arg(long)]
    pub(crate) json: bool,

    #[arg(long, value_name = "V[,V]", help = versions())]
    pub(crate) protocol: Option<String>,

    /// How long to wait for each answer of the server; 30 unless set, and 0.5 is half a second
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<String>,

    /// Set an environment variable of the server's process; may be repeated
    #[arg(long, value_name = "K=V")]
    pub(crate) env: Vec<String>,

    /// Pass the whole environment on to the server's process, not only what is known to be harmless
    #[arg(long)]
    pub(crate) inherit_env: bool,

    /// Add a header to every HTTP request; may be repeated
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,

    /// Take the names of servers from this file; may be repeated. Else from the usual places: see
    /// `snodo config`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,

    /// Show the request and do not send it; the server may still be asked for a schema
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Write pictures, sounds and other data of the answer into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,

    /// Show more: -v each message (secrets hidden), and what servers write to their error stream; -vv
    /// all of it, and what the library does
    #[arg(short, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Connect, and show what the server is and can do
    #[command(override_usage = "snodo inspect [OPTIONS] TARGET\n       \
                                snodo inspect [OPTIONS] -- COMMAND [ARG]...")]
    Inspect(Words),
    /// List the tools, or show what one of them takes
    #[command(override_usage = "snodo tools [OPTIONS] TARGET [TOOL]\n       \
                                snodo tools [OPTIONS] [TOOL] -- COMMAND [ARG]...")]
    Tools(Words),
    /// List the resources
    #[command(override_usage = "snodo resources [OPTIONS] TARGET\n       \
                                snodo resources [OPTIONS] -- COMMAND [ARG]...")]
    Resources(Words),
    /// List the templates of resources
    #[command(override_usage = "snodo templates [OPTIONS] TARGET\n       \
                                snodo templates [OPTIONS] -- COMMAND [ARG]...")]
    Templates(Words),
    /// List the prompts
    #[command(override_usage = "snodo prompts [OPTIONS] TARGET\n       \
                                snodo prompts [OPTIONS] -- COMMAND [ARG]...")]
    Prompts(Words),
    /// Call a tool
    #[command(
        override_usage = "snodo call [OPTIONS] TARGET TOOL [KEY=VALUE]...\n       \
                          snodo call [OPTIONS] TOOL [KEY=VALUE]... -- COMMAND [ARG]...",
        after_help = ARGUMENTS
    )]
    Call {
        #[command(flatten)]
        words: Words,
        /// The arguments as a JSON object; KEY=VALUE wins over what stands in it
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
    },
    /// Read a resource
    #[command(override_usage = "snodo read [OPTIONS] TARGET URI\n       \
                                snodo read [OPTIONS] URI -- COMMAND [ARG]...")]
    Read(Words),
    /// Render a prompt; the values of its arguments are text
    #[command(override_usage = "snodo prompt [OPTIONS] TARGET NAME [KEY=VALUE]...\n       \
                                snodo prompt [OPTIONS] NAME [KEY=VALUE]... -- COMMAND [ARG]...")]
    Prompt(Words),
    /// Send any request
    #[command(override_usage = "snodo request [OPTIONS] TARGET METHOD [--params JSON]\n       \
                          snodo request [OPTIONS] METHOD [--params JSON] -- COMMAND [ARG]...")]
    Request {
        #[command(flatten)]
        words: Words,
        /// The parameters as a JSON object
        #[arg(long, value_name = "JSON")]
        params: Option<String>,
    },
    /// Ask for a sign of life
    #[command(override_usage = "snodo ping [OPTIONS] TARGET\n       \
                                snodo ping [OPTIONS] -- COMMAND [ARG]...")]
    Ping(Words),
    /// Look at every step of getting to work with a server, and tell in plain words what is wrong
    #[command(override_usage = "snodo doctor [OPTIONS] TARGET\n       \
                                snodo doctor [OPTIONS] -- COMMAND [ARG]...")]
    Doctor(Words),
    /// Show events as they come: changed lists, or changes of the resources that are named
    #[command(override_usage = "snodo listen [OPTIONS] TARGET [URI]...\n       \
                                snodo listen [OPTIONS] [URI]... -- COMMAND [ARG]...")]
    Listen {
        #[command(flatten)]
        words: Words,
        /// End after so many events
        #[arg(long, value_name = "N")]
        count: Option<u64>,
        /// End after so long
        #[arg(long = "for", value_name = "SECONDS")]
        time: Option<String>,
    },
    /// Ask how an argument of a prompt, or of a template of resources, may go on
    #[command(
        override_usage = "snodo complete [OPTIONS] TARGET NAME|TEMPLATE KEY=TYPED [KNOWN=VALUE]..."
    )]
    Complete(Words),
    /// Call a tool many times, and tell how long that takes
    #[command(override_usage = "snodo bench [OPTIONS] TARGET TOOL [KEY=VALUE]...\n       \
                                snodo bench [OPTIONS] TOOL [KEY=VALUE]... -- COMMAND [ARG]...")]
    Bench {
        #[command(flatten)]
        words: Words,
        /// The arguments as a JSON object; KEY=VALUE wins over what stands in it
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
        /// How many calls; one more before them is not counted
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
        calls: u64,
        /// How many of them at once
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000))]
        at_once: u64,
    },
    /// Log in at a server that is reached by a URL; later commands use the login
    #[command(override_usage = "snodo login [OPTIONS] TARGET")]
    Login {
        #[command(flatten)]
        words: Words,
        /// A client id that was registered beforehand
        #[arg(long, value_name = "ID")]
        client_id: Option<String>,
        /// Scopes besides those that the server asks for
        #[arg(long, value_name = "SCOPES")]
        scope: Option<String>,
        /// The program that opens the page, in place of the system's browser
        #[arg(long, value_name = "PROGRAM")]
        browser: Option<String>,
        /// Type the address that the browser ends up at, where it is on another machine
        #[arg(long)]
        paste: bool,
    },
    /// Give a login up
    #[command(override_usage = "snodo logout [OPTIONS] TARGET")]
    Logout(Words),
    /// List the logins
    #[command(override_usage = "snodo whoami [OPTIONS] [TARGET]")]
    Whoami(Words),
    /// Run a command, and write what server and client say to each other into a file, without secrets
    #[command(override_usage = "snodo record FILE COMMAND [WORD]...")]
    Record {
        /// The file; what is there is written over
        file: PathBuf,
        /// A command of snodo, such as `call demo echo text=hi`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<OsString>,
    },
    /// Run a command against what was recorded: it stands without its TARGET
    #[command(override_usage = "snodo replay FILE COMMAND [WORD]...")]
    Replay {
        /// A file that `snodo record` wrote
        file: PathBuf,
        /// A command of snodo without TARGET, such as `call echo text=hi`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<OsString>,
    },
    /// Write a script that completes the command line in your shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the manual page
    Man,
    /// List the servers of your configuration: where each stands, and what is wrong with it
    #[command(after_help = PLACES)]
    Config {
        /// Connect to all of them at once, and tell what became of each
        #[arg(long)]
        check: bool,
        #[command(flatten)]
        options: Options,
    },
}

/// What stands after the name of a command.
#[derive(Args)]
pub(crate) struct Words {
    /// TARGET, unless it stands after `--`, and then what the command needs
    #[arg(value_name = "WORD", hide = true)]
    pub(crate) words: Vec<String>,

    /// A command that starts the server, in place of TARGET
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub(crate) server: Vec<OsString>,

    #[command(flatten)]
    pub(crate) options: Options,
}

/// Whether `--json` stands on a command line, also on one that clap refuses.
pub(crate) fn wants_json(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// The help of `--protocol`.
fn versions() -> String {
    let known: Vec<&str> = ProtocolVersion::ALL.iter().map(|version| version.as_str()).collect();
    let older: Vec<&str> = ProtocolVersion::OLDER.iter().map(|version| version.as_str()).collect();
    let (known, older) = (known.join(", "), older.join(", "));
    format!("Speak only these versions of the protocol, of {known}; also {older}, if named")
}

const EXAMPLES: &str = "\
Examples:
  snodo call demo echo text=hello
  snodo inspect https://example.com/mcp --header 'Authorization: Bearer TOKEN'
  snodo tools 'npx -y @modelcontextprotocol/server-everything'
  snodo call echo text=hi -- node server.mjs
  snodo call files search pattern=@pattern.txt --json
  snodo doctor 'node server.mjs'
  snodo config

Exit status:
  0  done
  1  the tool reported an error
  2  the command line cannot be understood
  3  the server answered with an error
  4  no connection, no answer in time, or an answer that cannot be read";

const ARGUMENTS: &str = "\
The text of KEY=VALUE is read as the tool's input schema wants it: where only a string is allowed
it is that string; else it is JSON if that is allowed, and else a string. KEY:=JSON is always JSON.
A VALUE of @FILE is read from the file, and one of - from the standard input; @FILE or - alone, as
for --args, is a whole JSON object. What is required and missing is asked for at a terminal.

Examples:
  snodo call demo echo text=hello
  snodo call demo add a=1 b:=2
  snodo call demo add --args '{\"a\": 1}' b=2 --json
  git log | snodo call demo echo text=- --dry-run
  snodo call echo text=hi -- node server.mjs";

const PLACES: &str = "\
An entry has `command`, `args`, `env` and `cwd`, or `url` and `headers`, under `mcpServers` or
`servers`; ${VARIABLE} and ${VARIABLE:-default} are put in. The files, in the order in which they
count: those of --config; or of the variable SNODO_CONFIG; or snodo/mcp.json in your settings,
those of Claude, Cursor, VS Code and Windsurf, and then .mcp.json, mcp.json, .vscode/mcp.json and
.cursor/mcp.json in this folder.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{Cli, wants_json};

    #[test]
    fn the_command_line_is_one_that_clap_accepts() {
        Cli::command().debug_assert();
    }

    #[test]
    fn json_is_wanted_only_before_the_server_s_own_words() {
        let wants = |words: &[&str]| wants_json(&words.iter().map(Into::into).collect::<Vec<_>>());
        assert!(wants(&["snodo", "nonsense", "--json"]));
        assert!(!wants(&["snodo", "tools", "--", "server", "--json"]));
        assert!(!wants(&["snodo", "tools", "json"]));
    }
}

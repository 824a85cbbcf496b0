//! The metadata of a request, merged.

use std::borrow::Cow;

use snodo_types::{Error, Raw, TraceContext};

use crate::params::push_string;
use crate::{Outfit, Request};

const PROGRESS_TOKEN: &str = "progressToken";

/// Writes the members of `_meta`, lowest first: the version's own, the parameters', the option's,
/// the trace; then the progress token. `declared` already holds what a caller gave under its name.
pub(crate) fn members<'a>(
    request: &Request,
    id: u64,
    outfit: &'a Outfit,
    declared: Option<(&str, Raw)>,
) -> Result<Cow<'a, str>, Error> {
    let plain = request.params.meta().is_empty() && request.meta.is_empty() && declared.is_none();
    if plain && request.trace.is_none() && !request.progress {
        return Ok(Cow::Borrowed(outfit.meta()));
    }
    let mut text = String::new();
    if plain {
        text.push_str(outfit.meta());
    } else {
        for (name, value) in merged(request, outfit, declared.as_ref()) {
            // A state belongs to its parent, so the trace replaces both, even where it has no state.
            let replaced = [TraceContext::PARENT, TraceContext::STATE].contains(&name);
            if request.trace.is_none() || !replaced {
                push_member(&mut text, name, value);
            }
        }
    }
    if let Some(trace) = &request.trace {
        push_text(&mut text, TraceContext::PARENT, trace.parent());
        if let Some(state) = trace.state() {
            push_text(&mut text, TraceContext::STATE, state);
        }
    }
    if request.progress {
        let own = request.params.meta().iter().chain(&request.meta);
        if own.into_iter().any(|(name, _)| name == PROGRESS_TOKEN) {
            return Err(Error::usage(
                "the request's id is its progress token: leave `progressToken` out",
            ));
        }
        push_member(&mut text, PROGRESS_TOKEN, &id.to_string());
    }
    Ok(Cow::Owned(text))
}

/// The value that goes out under a name, where a caller overrides it.
pub(crate) fn given<'a>(request: &'a Request, name: &str) -> Option<&'a Raw> {
    let mut given = request.meta.iter().rev().chain(request.params.meta().iter().rev());
    given.find(|(known, _)| known == name).map(|(_, value)| value)
}

fn merged<'a>(
    request: &'a Request,
    outfit: &'a Outfit,
    declared: Option<&'a (&str, Raw)>,
) -> Vec<(&'a str, &'a str)> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let given = request.params.meta().iter().chain(&request.meta);
    let own = outfit.meta_pairs().iter().map(|(name, value)| (*name, value.text()));
    let given = given.map(|(name, value)| (name.as_str(), value.text()));
    let declared = declared.map(|(name, value)| (*name, value.text()));
    for (name, value) in own.chain(given).chain(declared) {
        match pairs.iter_mut().find(|(known, _)| *known == name) {
            Some(pair) => pair.1 = value,
            None => pairs.push((name, value)),
        }
    }
    pairs
}

fn push_member(text: &mut String, name: &str, value: &str) {
    if !text.is_empty() {
        text.push(',');
    }
    push_string(text, name);
    text.push(':');
    text.push_str(value);
}

fn push_text(text: &mut String, name: &str, value: &str) {
    let mut quoted = String::with_capacity(value.len() + 2);
    push_string(&mut quoted, value);
    push_member(text, name, &quoted);
}

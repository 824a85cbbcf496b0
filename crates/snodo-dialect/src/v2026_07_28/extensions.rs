//! Extensions in requests and results of this version.

use std::borrow::Cow;

use snodo_types::{Error, Kind, Meta, ProtocolVersion, Raw, Routing};

use crate::extension::{self, Extension};
use crate::header::{is_framing, is_token};
use crate::{Outfit, Request, encode_header, meta};

/// The capabilities that go out with a request which names an extension, where they are not the
/// connection's own.
pub(super) fn declared(request: &Request, outfit: &Outfit) -> Result<Option<Raw>, Error> {
    let Some(named) = &request.extension else { return Ok(None) };
    extension::check(&**named)?;
    let capabilities = capabilities(request, outfit);
    if extension::declares(&capabilities, named.id()) {
        return Ok(None);
    }
    extension::with(&capabilities, &**named).map(Some)
}

/// Whether a result of this type may answer a request: some extension has it, and was declared with
/// the request (basic, "ResultType").
pub(super) fn accepts(request: &Request, outfit: &Outfit, result_type: &str) -> bool {
    let has =
        |extension: &dyn Extension| extension.result_types(&request.method).contains(&result_type);
    let named = request.extension.as_deref().is_some_and(has);
    named
        || outfit.extensions().iter().any(|registered| {
            has(&**registered)
                && extension::declares(&capabilities(request, outfit), registered.id())
        })
}

/// Adds what the extension that owns the method wants beside the request.
pub(super) fn route(
    version: ProtocolVersion,
    request: &Request,
    outfit: &Outfit,
    own: &mut Routing,
) -> Result<(), Error> {
    let method = &*request.method;
    let named = request.extension.as_ref().filter(|named| named.methods().contains(&method));
    let Some(owner) = named.or_else(|| outfit.extensions().owner(method)) else { return Ok(()) };
    for (name, value) in owner.routing(version, method, &request.params).iter() {
        if !is_token(name) || is_framing(name) {
            let text = format!("the extension {} gives the header {name:?}", owner.id());
            return Err(Error::new(Kind::Transport, Error::TRANSPORT, text));
        }
        if own.value(name).is_none() {
            own.set(name.to_owned(), encode_header(value).into_owned());
        }
    }
    Ok(())
}

/// The capabilities that go out with a request, before an extension named on it is added.
fn capabilities<'a>(request: &'a Request, outfit: &'a Outfit) -> Cow<'a, Raw> {
    let own = || outfit.meta_pairs().iter().find(|(name, _)| *name == Meta::CLIENT_CAPABILITIES);
    match meta::given(request, Meta::CLIENT_CAPABILITIES) {
        Some(given) => Cow::Borrowed(given),
        None => {
            own().map_or_else(|| Cow::Owned(Raw::empty_object()), |(_, raw)| Cow::Borrowed(raw))
        }
    }
}

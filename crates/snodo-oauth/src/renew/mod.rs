//! Getting tokens: what a refusal, an end or a lack of scope leads to.
//!
//! A renewal runs in a task of its own, one at a time for each MCP server. It goes from top to
//! bottom: who protects the server, what we have for that one, who we are to it, a token.

mod discover;
mod enter;
mod obtain;
mod refresh;

use std::sync::Arc;
use std::time::SystemTime;

use snodo_http::Challenge;

use crate::config::Grant;
use crate::error::{Error, ErrorKind};
use crate::oauth::Shared;
use crate::scopes::{self, Scopes};
use crate::session::{Failure, Session};
use crate::tokens::Tokens;
use crate::web::Web;

/// One renewal.
pub(crate) struct Renewal {
    pub(crate) shared: Arc<Shared>,
    pub(crate) session: Arc<Session>,
    pub(crate) web: Web,
    pub(crate) reach: Reach,
}

/// How far a renewal may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To a person.
    Person,
    /// Nobody is to be asked.
    Refresh,
}

/// What a server asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// Where it says its metadata is.
    pub(crate) metadata: Option<String>,
    pub(crate) scopes: Option<Scopes>,
    /// Whether it wants proof of possession.
    pub(crate) proof: bool,
}

impl Demand {
    pub(crate) fn of(challenge: &Challenge) -> Self {
        let scopes = challenge.parameter("scope").map(Scopes::read);
        Self {
            metadata: challenge.parameter("resource_metadata").map(str::to_owned),
            scopes: scopes.filter(|scopes| *scopes != Scopes::default()),
            proof: challenge.is("dpop"),
        }
    }
}

impl Renewal {
    /// After a 401. What was known is looked up again: the server may have moved to another
    /// authorization server.
    pub(crate) async fn after_refusal(self, demand: Demand) -> Result<(), Error> {
        let plan = self.discover(demand.metadata.as_deref()).await?;
        let old = self.session.tokens().filter(|tokens| plan.gave(tokens));
        if let Some(old) = &old
            && self.refresh(&plan, old).await?
        {
            return Ok(());
        }
        if self.reach == Reach::Refresh && matches!(self.shared.config.grant, Grant::Person(_)) {
            return Ok(());
        }
        let before = old.map(|old| old.requested.clone()).unwrap_or_default();
        let (named, supported) = (demand.scopes.as_ref(), &plan.resource.scopes);
        let wanted = scopes::choose(named, supported, &before, &self.shared.config.wish);
        self.obtain(&plan, wanted, demand.proof).await
    }

    /// Before a token ends. Where that fails there is still the old one, or a refusal that says more.
    pub(crate) async fn before_end(self) -> Result<(), Error> {
        let Some(old) = self.session.tokens() else { return Ok(()) };
        let person = matches!(self.shared.config.grant, Grant::Person(_));
        if person && old.refresh.is_none() {
            return Ok(());
        }
        let plan = match self.session.plan() {
            Some(plan) => plan,
            None => self.discover(None).await?,
        };
        if !plan.gave(&old) || self.refresh(&plan, &old).await? {
            return Ok(());
        }
        if person {
            // The next refusal says what to ask a person for.
            return Ok(());
        }
        self.obtain(&plan, old.requested.clone(), old.bound.is_some()).await
    }

    /// After a 403 that asks for more scope: everything that was asked for before, and more.
    pub(crate) async fn step_up(self, demand: Demand) -> Result<(), Error> {
        let plan = match self.session.plan() {
            Some(plan) => plan,
            None => self.discover(demand.metadata.as_deref()).await?,
        };
        let old = self.session.tokens().filter(|tokens| plan.gave(tokens));
        let before = old.as_ref().map(|old| old.requested.clone()).unwrap_or_default();
        let (named, supported) = (demand.scopes.as_ref(), &plan.resource.scopes);
        let named = scopes::choose(named, supported, &Scopes::default(), &scopes::Wish::AsNamed);
        if old.is_some_and(|old| old.granted.hold(&named)) {
            let what = named.parameter().unwrap_or_else(|| "more scope".to_owned());
            let why = format!("{} asks for {what:?}, which was granted", self.session.url);
            return Err(Error::new(ErrorKind::Rejected, why));
        }
        let wanted = before.and(&named);
        self.session.check(&wanted)?;
        let done = self.obtain(&plan, wanted.clone(), demand.proof).await;
        if done.is_ok() {
            self.session.fail(&wanted, Failure::Repeated);
        }
        done
    }

    /// Uses tokens from now on, and keeps them.
    async fn use_tokens(&self, tokens: Tokens) {
        if let Err(error) = self.shared.records.keep(&self.session.url, &tokens).await {
            // They are good all the same, as long as this process lives.
            tracing::warn!(%error, "new tokens could not be kept");
        }
        self.session.set_tokens(Some(tokens));
    }

    async fn forget_tokens(&self, tokens: &Tokens) {
        if let Err(error) = self.shared.records.forget(&tokens.origin).await {
            tracing::warn!(%error, "tokens that are over could not be forgotten");
        }
        self.session.set_tokens(None);
    }

    /// The tokens of this server that the store has, if they are better than those in use.
    async fn kept(&self, old: &Tokens) -> Option<Tokens> {
        let kept = self.shared.records.tokens(&old.origin).await;
        let kept = kept.inspect_err(|error| tracing::warn!(%error, "the store cannot be read"));
        kept.ok().flatten().filter(|kept| kept.access != old.access)
    }
}

impl crate::session::Plan {
    /// Whether tokens are from this server, for this resource.
    pub(crate) fn gave(&self, tokens: &Tokens) -> bool {
        tokens.origin.issuer == self.server.issuer
            && tokens.origin.resource == self.resource.identifier
    }
}

/// Whether a token is to be used as it is.
pub(crate) fn is_good(tokens: &Tokens) -> bool {
    !tokens.is_stale(SystemTime::now())
}

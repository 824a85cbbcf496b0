//! Subscriptions, 2026-07-28.

use crate::object::object;
use crate::{Members, Meta, Raw, TaskId};

/// What a subscription is to tell; what is left out is not told.
///
/// ```
/// use snodo_types::SubscriptionFilter;
///
/// let filter = SubscriptionFilter::new().tools_list_changed().resource("file:///a.txt");
/// assert_eq!(
///     serde_json::to_string(&filter)?,
///     r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a.txt"]}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// That the tools changed.
    pub tools_list_changed: Option<bool>,
    /// That the prompts changed.
    pub prompts_list_changed: Option<bool>,
    /// That the list of resources changed.
    pub resources_list_changed: Option<bool>,
    /// That one of these resources, or a part of it, changed.
    pub resource_subscriptions: Option<Vec<String>>,
    /// Tasks extension: how these tasks stand.
    pub task_ids: Option<Vec<TaskId>>,
    /// Members without a name here.
    pub other: Members,
}

/// The params of `subscriptions/listen`, what is asked for, and of
/// `notifications/subscriptions/acknowledged`, what of it is granted.
///
/// ```
/// use snodo_types::{SubscriptionFilter, SubscriptionParams};
///
/// let asked = SubscriptionParams::new(SubscriptionFilter::new().prompts_list_changed());
/// assert_eq!(
///     serde_json::to_string(&asked)?,
///     r#"{"notifications":{"promptsListChanged":true}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionParams {
    /// What is told.
    pub notifications: SubscriptionFilter,
    /// `_meta`, as it came; read by [`meta`](Self::meta).
    pub meta: Option<Raw>,
    /// Members without a name here.
    pub other: Members,
}

impl SubscriptionFilter {
    /// The members that have a name here, as they are written.
    pub const MEMBERS: &'static [&'static str] = &[
        "toolsListChanged",
        "promptsListChanged",
        "resourcesListChanged",
        "resourceSubscriptions",
        "taskIds",
    ];

    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Also that the tools changed.
    #[must_use]
    pub fn tools_list_changed(mut self) -> Self {
        self.tools_list_changed = Some(true);
        self
    }

    /// Also that the prompts changed.
    #[must_use]
    pub fn prompts_list_changed(mut self) -> Self {
        self.prompts_list_changed = Some(true);
        self
    }

    /// Also that the list of resources changed.
    #[must_use]
    pub fn resources_list_changed(mut self) -> Self {
        self.resources_list_changed = Some(true);
        self
    }

    /// Also that this resource changed.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.resource_subscriptions.get_or_insert_default().push(uri.into());
        self
    }

    /// Also how this task stands.
    #[must_use]
    pub fn task(mut self, id: impl Into<TaskId>) -> Self {
        self.task_ids.get_or_insert_default().push(id.into());
        self
    }

    /// The resources it is about.
    #[must_use]
    pub fn resources(&self) -> &[String] {
        self.resource_subscriptions.as_deref().unwrap_or_default()
    }

    /// The tasks it is about.
    #[must_use]
    pub fn tasks(&self) -> &[TaskId] {
        self.task_ids.as_deref().unwrap_or_default()
    }

    /// What of this filter another one does not hold: what was asked for and is not granted.
    #[must_use]
    pub fn without(&self, granted: &Self) -> Self {
        let flag = |asked: Option<bool>, granted: Option<bool>| {
            (asked == Some(true) && granted != Some(true)).then_some(true)
        };
        let resources = missing(self.resources(), granted.resources());
        let tasks = missing(self.tasks(), granted.tasks());
        Self {
            tools_list_changed: flag(self.tools_list_changed, granted.tools_list_changed),
            prompts_list_changed: flag(self.prompts_list_changed, granted.prompts_list_changed),
            resources_list_changed: flag(
                self.resources_list_changed,
                granted.resources_list_changed,
            ),
            resource_subscriptions: (!resources.is_empty()).then_some(resources),
            task_ids: (!tasks.is_empty()).then_some(tasks),
            other: Members::new(),
        }
    }

    /// Whether it asks for nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let flags =
            [self.tools_list_changed, self.prompts_list_changed, self.resources_list_changed];
        !flags.contains(&Some(true))
            && self.resources().is_empty()
            && self.tasks().is_empty()
            && self.other.is_empty()
    }
}

impl SubscriptionParams {
    /// This filter.
    #[must_use]
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self { notifications, meta: None, other: Members::new() }
    }

    /// What is known of `_meta`.
    #[must_use]
    pub fn meta(&self) -> Meta<'_> {
        Meta::of(self.meta.as_ref())
    }
}

fn missing<T: Clone + PartialEq>(asked: &[T], granted: &[T]) -> Vec<T> {
    asked.iter().filter(|asked| !granted.contains(asked)).cloned().collect()
}

object! {
    impl SubscriptionFilter {
        optional tools_list_changed: "toolsListChanged",
        optional prompts_list_changed: "promptsListChanged",
        optional resources_list_changed: "resourcesListChanged",
        optional resource_subscriptions: "resourceSubscriptions",
        optional task_ids: "taskIds";
        other
    }
}

object! {
    impl SubscriptionParams {
        required notifications: "notifications",
        optional meta: "_meta";
        other
    }
}

#[cfg(test)]
mod tests {
    use super::SubscriptionFilter;

    // SUB-04
    #[test]
    fn what_was_asked_for_and_is_not_granted_is_told_apart() {
        let asked = SubscriptionFilter::new()
            .tools_list_changed()
            .prompts_list_changed()
            .resource("a")
            .resource("b")
            .task("t");
        let granted: SubscriptionFilter =
            serde_json::from_str(r#"{"toolsListChanged":true,"resourceSubscriptions":["b"]}"#)
                .expect("a filter");
        let refused = SubscriptionFilter::new().prompts_list_changed().resource("a").task("t");
        assert_eq!(asked.without(&granted), refused);
        assert!(asked.without(&asked).is_empty());
    }
}

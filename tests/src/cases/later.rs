//! What cases need that the library or this runner does not have yet, and the issue that brings it.

use super::store::CaseFile;

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) issue: u8,
    pub(crate) what: String,
}

impl Need {
    pub(crate) fn new(issue: u8, what: impl Into<String>) -> Self {
        Self { issue, what: what.into() }
    }

    /// A member that the runner does not know by name: no issue brings it by itself.
    pub(crate) fn unknown(what: impl Into<String>) -> Self {
        Self::new(0, what)
    }
}

/// What a case waits for as a whole, though all its members are known.
pub(crate) fn of_case(case: &CaseFile) -> Option<Need> {
    let by_id = CASES.iter().find(|(id, ..)| *id == case.id);
    let by_group = GROUPS.iter().find(|(group, ..)| *group == case.group);
    let (_, issue, what) = by_id.or(by_group)?;
    Some(Need::new(*issue, *what))
}

const GROUPS: &[(&str, u8, &str)] =
    &[("uritemplate", 6, "matching of URI templates"), ("wire", 4, "no such file is given yet")];

/// None today.
const CASES: &[(&str, u8, &str)] = &[];

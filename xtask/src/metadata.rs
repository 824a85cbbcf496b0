//! The parts of `cargo metadata` that the checks read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::shell;

/// The workspace and everything it builds with.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

/// One package, of the workspace or from elsewhere.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    /// `None` for a package of the tree.
    pub(crate) source: Option<String>,
    pub(crate) member: bool,
    pub(crate) published: bool,
    /// The names of its binaries.
    pub(crate) binaries: Vec<String>,
    /// The names of its features, `default` left out.
    pub(crate) features: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// The packages that this build gives it outside tests, by id.
    pub(crate) resolved: Vec<String>,
}

/// A line of a manifest.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) requirement: String,
    pub(crate) for_tests: bool,
}

impl Metadata {
    /// Asks cargo about this workspace.
    pub(crate) fn load() -> Result<Self, String> {
        Self::load_from("Cargo.toml")
    }

    /// Asks cargo about the workspace of a manifest, which is named from the root.
    pub(crate) fn load_from(manifest: &str) -> Result<Self, String> {
        let arguments =
            ["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest];
        let document = shell::output("cargo", &arguments).map_err(|error| {
            format!(
                "{error}\nif its lock file is behind: `cargo update --workspace --manifest-path {manifest}`"
            )
        })?;
        Self::parse(&document)
    }

    /// Reads the document that cargo writes.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let document: Value =
            serde_json::from_str(text).map_err(|error| format!("cargo metadata: {error}"))?;
        let members: BTreeSet<&str> =
            list(&document["workspace_members"]).filter_map(Value::as_str).collect();
        let resolved: BTreeMap<&str, &Value> = list(&document["resolve"]["nodes"])
            .filter_map(|node| Some((node["id"].as_str()?, node)))
            .collect();
        let packages = list(&document["packages"])
            .map(|package| {
                let id = text_of(&package["id"]);
                let node = resolved.get(id.as_str()).copied();
                Package::read(package, members.contains(id.as_str()), node)
            })
            .collect();
        Ok(Self { packages })
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.member)
    }

    /// Everything that `package` is built with outside tests, itself included.
    pub(crate) fn closure(&self, package: &Package) -> Vec<&Package> {
        let by_id: BTreeMap<&str, &Package> =
            self.packages.iter().map(|package| (package.id.as_str(), package)).collect();
        let mut seen = BTreeSet::from([package.id.as_str()]);
        let mut open = vec![package.id.as_str()];
        while let Some(package) = open.pop().and_then(|id| by_id.get(id)) {
            open.extend(package.resolved.iter().map(String::as_str).filter(|id| seen.insert(id)));
        }
        seen.into_iter().filter_map(|id| by_id.get(id).copied()).collect()
    }
}

impl Package {
    fn read(package: &Value, member: bool, node: Option<&Value>) -> Self {
        let binaries = list(&package["targets"])
            .filter(|target| list(&target["kind"]).any(|kind| kind == "bin"))
            .map(|target| text_of(&target["name"]))
            .collect();
        let features =
            package["features"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
        let resolved = node.map(|node| &node["deps"]).map(list).into_iter().flatten();
        Self {
            id: text_of(&package["id"]),
            name: text_of(&package["name"]),
            version: text_of(&package["version"]),
            license: package["license"].as_str().map(str::to_owned),
            source: package["source"].as_str().map(str::to_owned),
            member,
            published: package["publish"].is_null(),
            binaries,
            features: features.filter(|name| name != "default").collect(),
            dependencies: list(&package["dependencies"]).map(Dependency::read).collect(),
            resolved: resolved
                .filter(|edge| serves_more_than_tests(edge))
                .map(|edge| text_of(&edge["pkg"]))
                .collect(),
        }
    }
}

impl Dependency {
    fn read(dependency: &Value) -> Self {
        Self {
            name: text_of(&dependency["name"]),
            requirement: text_of(&dependency["req"]),
            for_tests: dependency["kind"] == "dev",
        }
    }
}

fn serves_more_than_tests(edge: &Value) -> bool {
    list(&edge["dep_kinds"]).any(|kind| kind["kind"] != "dev")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

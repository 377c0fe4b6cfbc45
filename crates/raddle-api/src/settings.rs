//! What a user pins or widens in `[package.metadata.raddle]`; `docs/hunt-settings.md` describes it.
//!
//! Keys that are not known are errors: a misspelt `weak` would otherwise turn into a false alarm.

use crate::error::nearest_text;
use crate::find::nearest;
use crate::model::{Api, ApiType};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The settings of a package.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Settings {
    /// Functions that are never called, for all types: `len`, `SegQueue::len`.
    pub exclude: Vec<String>,
    /// Functions whose results are never compared, for all types.
    pub weak: Vec<String>,
    /// Functions that are held to take effect at one moment, whatever their documentation says, for all types.
    pub strict: Vec<String>,
    /// Rust expressions for parameters and types, for all types.
    pub values: BTreeMap<String, Vec<String>>,
    /// Settings of single types, by the name or path the user wrote.
    pub types: BTreeMap<String, TypeSettings>,
}

/// The settings of a type.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TypeSettings {
    /// Not hunted unless it is named.
    pub skip: bool,
    /// Rust expressions that make the object, instead of the constructors that were found.
    pub constructors: Vec<String>,
    /// Functions that are never called.
    pub exclude: Vec<String>,
    /// Functions whose results are never compared: documented as weakly consistent.
    pub weak: Vec<String>,
    /// Functions that are held to take effect at one moment, whatever their documentation says.
    pub strict: Vec<String>,
    /// What generic parameters stand for: `K` is `String`.
    pub generics: BTreeMap<String, String>,
    /// Rust expressions, by `function.parameter`, by parameter or by type, in this order of precedence.
    pub values: BTreeMap<String, Vec<String>>,
    /// Groups of functions of which at most one thread may call any: `producer` is `push`, `try_push`.
    pub single: BTreeMap<String, Vec<String>>,
}

/// What is wrong with settings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("[package.metadata.raddle]: {0}")]
pub struct SettingsError(String);

impl SettingsError {
    /// What is wrong, without where settings usually are.
    pub fn plain(&self) -> &str {
        &self.0
    }
}

const TOP: [&str; 5] = ["exclude", "weak", "strict", "values", "type"];
const TYPE: [&str; 8] = ["skip", "constructor", "exclude", "weak", "strict", "generics", "values", "single"];

impl Settings {
    /// The settings in the metadata of a package (`package.metadata` as JSON).
    pub fn from_metadata(metadata: &Value) -> Result<Self, SettingsError> {
        match metadata.get("raddle") {
            None | Some(Value::Null) => Ok(Settings::default()),
            Some(value) => Settings::parse(value),
        }
    }

    fn parse(value: &Value) -> Result<Self, SettingsError> {
        let table = table(value, "raddle")?;
        known(table, "raddle", &TOP)?;
        let mut types = BTreeMap::new();
        if let Some(all) = table.get("type") {
            for (name, settings) in self::table(all, "type")? {
                types.insert(name.clone(), TypeSettings::parse(settings, &format!("type.{name}"))?);
            }
        }
        Ok(Settings {
            exclude: strings(table.get("exclude"), "exclude")?,
            weak: strings(table.get("weak"), "weak")?,
            strict: strings(table.get("strict"), "strict")?,
            values: lists(table.get("values"), "values")?,
            types,
        })
    }

    /// What applies to a type: its own settings joined with those for all types.
    pub fn of(&self, ty: &ApiType) -> TypeSettings {
        let own = self.types.iter().find(|(name, _)| is_named(ty, name)).map(|(_, s)| s.clone());
        let mut out = own.unwrap_or_default();
        out.exclude.extend(self.exclude.iter().cloned());
        out.weak.extend(self.weak.iter().cloned());
        out.strict.extend(self.strict.iter().cloned());
        for (name, values) in &self.values {
            out.values.entry(name.clone()).or_insert_with(|| values.clone());
        }
        out
    }

    /// Names that nothing in the API has: most likely misspelt.
    pub fn check(&self, api: &Api) -> Result<(), SettingsError> {
        let functions: Vec<&str> =
            api.types.iter().flat_map(|t| &t.functions).map(|f| f.name.as_str()).collect();
        for name in self.exclude.iter().chain(&self.weak).chain(&self.strict) {
            exists(last(name), &functions, "function")?;
        }
        for (name, settings) in &self.types {
            let names: Vec<&str> = api.types.iter().map(ApiType::name).collect();
            let Some(ty) = api.types.iter().find(|t| is_named(t, name)) else {
                return exists(last(name), &names, "type");
            };
            let of_type: Vec<&str> = ty.functions.iter().map(|f| f.name.as_str()).collect();
            let grouped = settings.single.values().flatten();
            for function in
                settings.exclude.iter().chain(&settings.weak).chain(&settings.strict).chain(grouped)
            {
                exists(last(function), &of_type, &format!("function of `{name}`"))?;
            }
            let params: Vec<&str> = ty.generics.params.iter().map(|p| p.name.as_str()).collect();
            for param in settings.generics.keys() {
                exists(param, &params, &format!("generic parameter of `{name}`"))?;
            }
        }
        Ok(())
    }
}

impl TypeSettings {
    fn parse(value: &Value, at: &str) -> Result<Self, SettingsError> {
        let table = table(value, at)?;
        known(table, at, &TYPE)?;
        let skip = match table.get("skip") {
            None => false,
            Some(Value::Bool(b)) => *b,
            Some(_) => return Err(SettingsError(format!("`{at}.skip` must be true or false"))),
        };
        let mut generics = BTreeMap::new();
        if let Some(all) = table.get("generics") {
            for (name, ty) in self::table(all, &format!("{at}.generics"))? {
                let Value::String(ty) = ty else {
                    return Err(SettingsError(format!("`{at}.generics.{name}` must be a type in quotes")));
                };
                generics.insert(name.clone(), ty.clone());
            }
        }
        Ok(TypeSettings {
            skip,
            constructors: strings(table.get("constructor"), &format!("{at}.constructor"))?,
            exclude: strings(table.get("exclude"), &format!("{at}.exclude"))?,
            weak: strings(table.get("weak"), &format!("{at}.weak"))?,
            strict: strings(table.get("strict"), &format!("{at}.strict"))?,
            generics,
            values: lists(table.get("values"), &format!("{at}.values"))?,
            single: lists(table.get("single"), &format!("{at}.single"))?,
        })
    }

    /// Whether a function is never to be called.
    pub fn excludes(&self, type_name: &str, function: &str) -> bool {
        self.exclude.iter().any(|e| names(e, type_name, function))
    }

    /// Whether a function's results are not compared.
    pub fn is_weak(&self, type_name: &str, function: &str) -> bool {
        self.weak.iter().any(|e| names(e, type_name, function))
    }

    /// Whether a function is held to take effect at one moment.
    pub fn is_strict(&self, type_name: &str, function: &str) -> bool {
        self.strict.iter().any(|e| names(e, type_name, function))
    }

    /// The group of functions that only one thread may call, if the function is in one.
    pub fn group(&self, type_name: &str, function: &str) -> Option<&str> {
        let is_in = |all: &Vec<String>| all.iter().any(|e| names(e, type_name, function));
        self.single.iter().find(|(_, all)| is_in(all)).map(|(name, _)| name.as_str())
    }

    /// The expressions for a parameter, if the user gave some; the type as it is printed.
    pub fn values_for(&self, function: &str, parameter: &str, ty: &str) -> Option<&[String]> {
        let keys = [format!("{function}.{parameter}"), parameter.to_owned(), ty.to_owned()];
        keys.iter().find_map(|k| self.values.get(k)).map(Vec::as_slice)
    }
}

/// `push` names it for every type, `SegQueue::push` for that type only.
fn names(entry: &str, type_name: &str, function: &str) -> bool {
    match entry.rsplit_once("::") {
        Some((ty, name)) => name == function && last(ty) == last(type_name),
        None => entry == function,
    }
}

fn is_named(ty: &ApiType, name: &str) -> bool {
    ty.path == name
        || ty.name() == name
        || ty.path.strip_suffix(name).is_some_and(|rest| rest.ends_with("::"))
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn exists(name: &str, among: &[&str], kind: &str) -> Result<(), SettingsError> {
    if among.contains(&name) {
        return Ok(());
    }
    Err(SettingsError(format!("there is no {kind} named `{name}`{}", nearest_text(&nearest(name, among)))))
}

fn table<'v>(value: &'v Value, at: &str) -> Result<&'v serde_json::Map<String, Value>, SettingsError> {
    value.as_object().ok_or_else(|| SettingsError(format!("`{at}` must be a table")))
}

fn known(table: &serde_json::Map<String, Value>, at: &str, keys: &[&str]) -> Result<(), SettingsError> {
    match table.keys().find(|k| !keys.contains(&k.as_str())) {
        None => Ok(()),
        Some(key) => {
            let mut meant = nearest(key, keys);
            if meant.is_empty() {
                meant = keys.iter().map(|k| (*k).to_owned()).collect();
            }
            Err(SettingsError(format!("unknown key `{key}` in `{at}`{}", nearest_text(&meant))))
        }
    }
}

/// A string, or a list of strings.
fn strings(value: Option<&Value>, at: &str) -> Result<Vec<String>, SettingsError> {
    let wrong = || SettingsError(format!("`{at}` must be a string or a list of strings"));
    match value {
        None => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one.clone()]),
        Some(Value::Array(all)) => {
            all.iter().map(|v| v.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

fn lists(value: Option<&Value>, at: &str) -> Result<BTreeMap<String, Vec<String>>, SettingsError> {
    let Some(value) = value else { return Ok(BTreeMap::new()) };
    let entry = |(k, v): (&String, &Value)| Ok((k.clone(), strings(Some(v), &format!("{at}.{k}"))?));
    table(value, at)?.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(value: Value) -> Result<Settings, SettingsError> {
        Settings::from_metadata(&json!({ "raddle": value }))
    }

    #[test]
    fn a_package_without_settings_has_none() {
        assert_eq!(Settings::from_metadata(&Value::Null), Ok(Settings::default()));
        assert_eq!(Settings::from_metadata(&json!({ "docs": {} })), Ok(Settings::default()));
    }

    #[test]
    fn a_misspelt_key_is_an_error_that_names_the_right_one() {
        let error = parse(json!({ "type": { "Queue": { "wek": ["len"] } } })).unwrap_err().to_string();
        assert!(error.contains("unknown key `wek` in `type.Queue`") && error.contains("`weak`"), "{error}");
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_an_error_that_names_its_place() {
        let error =
            parse(json!({ "type": { "Queue": { "values": { "u64": 3 } } } })).unwrap_err().to_string();
        assert!(error.contains("`type.Queue.values.u64` must be a string or a list"), "{error}");
    }

    #[test]
    fn the_most_exact_values_win_and_a_single_string_is_a_list_of_one() {
        let values = json!({ "push.value": "7", "value": ["1", "2"], "u64": ["0"] });
        let settings = parse(json!({ "type": { "Queue": { "values": values } } })).unwrap();
        let of = &settings.types["Queue"];
        assert_eq!(of.values_for("push", "value", "u64").unwrap(), ["7"]);
        assert_eq!(of.values_for("force", "value", "u64").unwrap(), ["1", "2"]);
        assert_eq!(of.values_for("force", "other", "u64").unwrap(), ["0"]);
        assert_eq!(of.values_for("force", "other", "u8"), None);
    }

    #[test]
    fn a_function_may_be_named_for_one_type_or_for_all() {
        let single = json!({ "producer": ["push", "Ring::try_push"] });
        let settings = parse(json!({ "type": { "Ring": { "single": single } } })).unwrap();
        let ring = &settings.types["Ring"];
        assert_eq!(ring.group("spsc::Ring", "try_push"), Some("producer"));
        assert_eq!(ring.group("spsc::Other", "try_push"), None);
        assert_eq!(ring.group("spsc::Other", "push"), Some("producer"));
    }
}

//! Simpler values, for minimising.

use super::harness::Domain;
use super::value::Value;

/// The simplest value of a domain; `None` when it needs a slot, or has no value at all.
pub fn simplest(domain: &Domain) -> Option<Value> {
    Some(match domain {
        Domain::Unit => Value::Unit,
        Domain::Bool => Value::Bool(false),
        Domain::Int { min, max, .. } => Value::Int(0.clamp(*min, *max)),
        Domain::Float => Value::Float(0.0),
        Domain::Char => Value::Char('a'),
        Domain::Str { .. } => Value::Str(String::new()),
        Domain::Duration => Value::Int(0),
        Domain::Choice(of) => (!of.is_empty()).then_some(Value::Choice(0))?,
        Domain::List { of, min, .. } => Value::List((0..*min).map(|_| simplest(of)).collect::<Option<_>>()?),
        Domain::Tuple(of) => Value::List(of.iter().map(simplest).collect::<Option<_>>()?),
        Domain::Range(of) => Value::List(vec![simplest(of)?, simplest(of)?]),
        Domain::Option(_) => Value::None,
        Domain::Result(ok, _) => Value::Ok(Box::new(simplest(ok)?)),
        Domain::Closure { returns, .. } => Value::Closure(Some(Box::new(simplest(returns)?))),
        Domain::Slot { .. } => return None,
        Domain::Wrapped { inner, .. } => simplest(inner)?,
    })
}

/// Values of the domain that are simpler than this one, the simplest first. Following any of them again and again
/// comes to an end.
pub fn simpler(domain: &Domain, value: &Value) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    all.extend(simplest(domain).filter(|s| cost(s) < cost(value)));
    let boxed = |v: Vec<Value>, make: fn(Box<Value>) -> Value| v.into_iter().map(move |v| make(Box::new(v)));
    match (domain, value) {
        (Domain::Int { min, max, .. }, Value::Int(i)) => {
            let fewer = [1, 2, 3, i / 2].map(|v: i128| v.clamp(*min, *max));
            all.extend(fewer.into_iter().map(Value::Int).filter(|v| cost(v) < cost(value)));
        }
        (Domain::Str { .. }, Value::Str(s)) if s.len() > 1 => all.push(Value::Str("a".to_owned())),
        (Domain::List { of, min, .. }, Value::List(elements)) => {
            if elements.len() > *min {
                all.extend((0..elements.len()).map(|i| {
                    let mut fewer = elements.clone();
                    fewer.remove(i);
                    Value::List(fewer)
                }));
            }
            all.extend(one_element_simpler(&vec![&**of; elements.len()], elements));
        }
        (Domain::Tuple(of), Value::List(elements)) => {
            all.extend(one_element_simpler(&of.iter().collect::<Vec<_>>(), elements));
        }
        (Domain::Range(of), Value::List(elements)) => all.extend(one_element_simpler(&[of, of], elements)),
        (Domain::Option(of), Value::Some(v)) => all.extend(boxed(simpler(of, v), Value::Some)),
        (Domain::Result(ok, _), Value::Ok(v)) => all.extend(boxed(simpler(ok, v), Value::Ok)),
        (Domain::Result(_, err), Value::Err(v)) => all.extend(boxed(simpler(err, v), Value::Err)),
        (Domain::Closure { returns, .. }, Value::Closure(Some(v))) => {
            all.extend(boxed(simpler(returns, v), |v| Value::Closure(Some(v))));
        }
        (Domain::Wrapped { inner, .. }, v) => return simpler(inner, v),
        _ => {}
    }
    all.dedup();
    all
}

fn one_element_simpler(domains: &[&Domain], elements: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    for (i, (domain, element)) in domains.iter().zip(elements).enumerate() {
        all.extend(simpler(domain, element).into_iter().map(|s| {
            let mut changed = elements.to_vec();
            changed[i] = s;
            Value::List(changed)
        }));
    }
    all
}

/// How much there is to understand about a value.
pub fn cost(value: &Value) -> u64 {
    let int = |i: i128| match i {
        0..=100 => i as u64,
        _ => 100 + u64::from(128 - i.unsigned_abs().leading_zeros()) + u64::from(i < 0),
    };
    match value {
        Value::Unit | Value::None | Value::Bool(false) | Value::Slot(_) => 0,
        Value::Bool(true) => 1,
        Value::Int(i) => int(*i),
        Value::Float(f) => match *f {
            0.0 => 0,
            f if f.is_finite() => 1,
            _ => 2,
        },
        Value::Char(c) => u64::from(*c != 'a'),
        Value::Str(s) => s.chars().map(|c| 2 + u64::from(c != 'a')).sum(),
        Value::Choice(i) => u64::from(*i),
        Value::List(l) => l.iter().map(|v| 1 + cost(v)).sum(),
        Value::Some(v) | Value::Ok(v) | Value::Closure(Some(v)) => 1 + cost(v),
        Value::Err(v) => 2 + cost(v),
        Value::Closure(None) => 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::values::{NoSlots, draw};
    use crate::harness::ListForm;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    fn u64s() -> Domain {
        Domain::Int { min: 0, max: i128::from(u64::MAX), ty: "u64".to_owned() }
    }

    fn domains() -> Vec<Domain> {
        let list = Domain::List { of: Box::new(u64s()), min: 1, max: 4, form: ListForm::Slice };
        let signed = Domain::Int { min: -128, max: 127, ty: "i8".to_owned() };
        vec![
            Domain::Tuple(vec![Domain::Bool, Domain::Char, Domain::Float, signed]),
            Domain::Option(Box::new(list.clone())),
            Domain::Result(Box::new(Domain::Str { owned: true }), Box::new(Domain::Duration)),
            Domain::Closure { returns: Box::new(Domain::Range(Box::new(u64s()))), params: "|_|".to_owned() },
            Domain::Wrapped { before: "&".to_owned(), inner: Box::new(list), after: String::new() },
            Domain::Choice(vec!["A".to_owned(), "B".to_owned()]),
        ]
    }

    #[test]
    fn simpler_values_cost_less_and_every_path_ends_at_the_simplest() {
        let mut rng = Pcg64Mcg::seed_from_u64(3);
        for domain in domains() {
            for _ in 0..200 {
                let mut value = draw(&mut rng, &domain, &mut NoSlots).unwrap();
                while let Some(next) = simpler(&domain, &value).pop() {
                    assert!(cost(&next) < cost(&value), "{next:?} is not simpler than {value:?}");
                    value = next;
                }
                assert_eq!(Some(&value), simplest(&domain).as_ref(), "{domain:?}");
            }
        }
    }

    #[test]
    fn a_panicking_closure_is_the_least_simple() {
        let closure = Domain::Closure { returns: Box::new(Domain::Unit), params: "||".to_owned() };
        assert_eq!(simpler(&closure, &Value::Closure(None)), [Value::Closure(Some(Box::new(Value::Unit)))]);
    }
}

//! Strongly connected components, for loops in a function and for recursion between functions.

/// The components of a graph, those that others depend on first (successors before predecessors).
pub(crate) fn components<S: AsRef<[usize]>>(
    nodes: usize,
    successors: impl Fn(usize) -> S,
) -> Vec<Vec<usize>> {
    // Tarjan's algorithm with an explicit stack: call chains can be long.
    const NEW: usize = usize::MAX;
    let mut index = vec![NEW; nodes];
    let mut low = vec![0; nodes];
    let mut on_stack = vec![false; nodes];
    let mut stack = Vec::new();
    let mut found = Vec::new();
    let mut next = 0;
    for root in 0..nodes {
        if index[root] != NEW {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some(&mut (node, ref mut edge)) = work.last_mut() {
            if *edge == 0 {
                index[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            let out = successors(node);
            let target = out.as_ref().get(*edge).copied();
            *edge += 1;
            match target {
                Some(t) if t >= nodes => {}
                Some(t) if index[t] == NEW => work.push((t, 0)),
                Some(t) if on_stack[t] => low[node] = low[node].min(index[t]),
                Some(_) => {}
                None => {
                    work.pop();
                    if let Some(&(parent, _)) = work.last() {
                        low[parent] = low[parent].min(low[node]);
                    }
                    if low[node] == index[node] {
                        let start = stack.iter().rposition(|&n| n == node).unwrap_or(0);
                        let mut component = stack.split_off(start);
                        component.iter().for_each(|&n| on_stack[n] = false);
                        component.sort_unstable();
                        found.push(component);
                    }
                }
            }
        }
    }
    found
}

/// Which nodes lie on a cycle.
pub(crate) fn on_cycles<'g>(nodes: usize, successors: impl Fn(usize) -> &'g [usize]) -> Vec<bool> {
    let mut cyclic = vec![false; nodes];
    for component in components(nodes, &successors) {
        if let [one] = component[..] {
            cyclic[one] = successors(one).contains(&one);
        } else {
            component.iter().for_each(|&n| cyclic[n] = true);
        }
    }
    cyclic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_come_before_callers_and_loops_are_found() {
        let graph: [&[usize]; 5] = [&[1, 4], &[2], &[1, 3], &[], &[4, 9]];
        assert_eq!(components(5, |n| graph[n]), vec![vec![3], vec![1, 2], vec![4], vec![0]]);
        assert_eq!(on_cycles(5, |n| graph[n]), [false, true, true, false, true]);
    }
}

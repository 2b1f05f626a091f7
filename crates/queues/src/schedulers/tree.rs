//! Classes within classes, written as a list in which each may name another as its parent.

use std::sync::LazyLock;

use units::param::{Invalid, join};
use units::{Rate, Read};

use super::Child;
use crate::diffserv::Match;
use crate::discipline::Queue;

/// What a tree must know of a class.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its name, if it has one.
    pub name: &'a Option<String>,
    /// The name of its parent, if it has one.
    pub parent: &'a Option<String>,
    /// Which packets it takes; a class that has classes of its own must leave this away, and the queue.
    pub takes: &'a Option<Match>,
    /// Its queue.
    pub queue: &'a Option<Queue>,
    /// Its rate.
    pub rate: Rate,
}

/// A class that may stand in a tree.
pub trait InTree {
    /// What the tree must know of it.
    fn entry(&self) -> Entry<'_>;
}

/// Who is whose parent.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The place of each class's parent, which is before its own.
    pub parents: Vec<Option<usize>>,
    /// Whether each has classes of its own.
    pub inner: Vec<bool>,
}

impl Tree {
    /// The tree of a list of classes at `path`.
    pub fn read<C: InTree>(classes: &[C], path: &str) -> Result<Tree, Invalid> {
        let entries: Vec<Entry> = classes.iter().map(C::entry).collect();
        let at = |i: usize, key: &str| join(&join(&join(path, "classes"), i), key);
        let mut tree = Tree { parents: Vec::new(), inner: vec![false; entries.len()] };
        for (i, entry) in entries.iter().enumerate() {
            let named = |name: &String| entries[..i].iter().position(|e| e.name.as_ref() == Some(name));
            if let Some(name) = entry.name
                && named(name).is_some()
            {
                let problem = "is also the name of a class before it";
                return Err(Invalid::new(&at(i, "name"), &name.write(), problem).remedy("give each its own"));
            }
            let parent = match entry.parent {
                None => None,
                Some(name) => Some(named(name).ok_or_else(|| {
                    Invalid::new(&at(i, "parent"), &name.write(), "is the name of no class before it")
                        .remedy("write a class after its parent")
                })?),
            };
            if let Some(parent) = parent {
                tree.inner[parent] = true;
            }
            tree.parents.push(parent);
        }
        let like_a_leaf = |i: usize| entries[i].takes.is_some() || entries[i].queue.is_some();
        match (0..entries.len()).find(|&i| tree.inner[i] && like_a_leaf(i)) {
            Some(i) => {
                Err(Invalid::at(&at(i, "queue"), "and match are for classes that are nobody's parent")
                    .remedy("give them to the classes below it"))
            }
            None => Ok(tree),
        }
    }

    /// The tree of a list that has been read without a complaint.
    pub fn of<C: InTree>(classes: &[C]) -> Tree {
        Tree::read(classes, "").unwrap_or(Tree { parents: Vec::new(), inner: Vec::new() })
    }

    /// The ancestors of a class, its parent first.
    pub fn ancestors(&self, class: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parents[class], |&parent| self.parents[parent])
    }

    /// How many ancestors a class has.
    pub fn depth(&self, class: usize) -> usize {
        self.ancestors(class).count()
    }
}

/// The classes of a list that have packets: those without classes of their own.
pub fn leaves<C: InTree>(classes: &[C]) -> Vec<Child<'_>> {
    static DEFAULT: LazyLock<Queue> = LazyLock::new(Queue::default);
    let inner = Tree::of(classes).inner;
    let is_leaf = |i: usize| !inner.get(i).copied().unwrap_or(false);
    let child = |i: usize| {
        let entry = classes[i].entry();
        Child {
            path: format!("classes.{i}"),
            takes: entry.takes.as_ref(),
            queue: entry.queue.as_ref().unwrap_or(&DEFAULT),
            rate: Some(entry.rate),
        }
    };
    (0..classes.len()).filter(|&i| is_leaf(i)).map(child).collect()
}

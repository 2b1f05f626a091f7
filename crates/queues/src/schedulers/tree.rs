//! Tree of classes. A scenario writes the tree as a list, in which a class may name another class
//! as its parent.

use std::sync::LazyLock;

use units::param::{Invalid, join};
use units::{Rate, Read};

use super::Child;
use crate::diffserv::Match;
use crate::discipline::Queue;

/// Properties of a class from which the tree is built.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Name of the class.
    pub name: &'a Option<String>,
    /// Name of the parent class.
    pub parent: &'a Option<String>,
    /// Condition that selects the packets of the class. A class that is a parent must have neither
    /// a match condition nor a queue.
    pub takes: &'a Option<Match>,
    /// Queue of the class.
    pub queue: &'a Option<Queue>,
    /// Rate of the class.
    pub rate: Rate,
}

/// Class that can be part of a tree.
pub trait InTree {
    /// Return the properties from which the tree is built.
    fn entry(&self) -> Entry<'_>;
}

/// Tree of the classes of a list.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Index of the parent of each class. In the list each parent comes before its children.
    pub parents: Vec<Option<usize>>,
    /// One entry per class: true if the class is a parent.
    pub inner: Vec<bool>,
}

impl Tree {
    /// Check the list of classes at `path` and return the tree of the classes.
    pub fn read<C: InTree>(classes: &[C], path: &str) -> Result<Tree, Invalid> {
        let entries: Vec<Entry> = classes.iter().map(C::entry).collect();
        let at = |i: usize, key: &str| join(&join(&join(path, "classes"), i), key);
        let mut tree = Tree { parents: Vec::new(), inner: vec![false; entries.len()] };
        for (i, entry) in entries.iter().enumerate() {
            let named = |name: &String| entries[..i].iter().position(|e| e.name.as_ref() == Some(name));
            if let Some(name) = entry.name
                && named(name).is_some()
            {
                let problem = "is also the name of an earlier class";
                return Err(Invalid::new(&at(i, "name"), &name.write(), problem)
                    .remedy("give each class its own name"));
            }
            let parent = match entry.parent {
                None => None,
                Some(name) => Some(named(name).ok_or_else(|| {
                    Invalid::new(&at(i, "parent"), &name.write(), "is not the name of an earlier class")
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
                Err(Invalid::at(&at(i, "queue"), "and match cannot be set for the parent of another class")
                    .remedy("move queue and match to a class below the parent"))
            }
            None => Ok(tree),
        }
    }

    /// Return the tree of a list that [`Tree::read`] has checked.
    pub fn of<C: InTree>(classes: &[C]) -> Tree {
        Tree::read(classes, "").unwrap_or(Tree { parents: Vec::new(), inner: Vec::new() })
    }

    /// Return the ancestors of a class, starting with its parent.
    pub fn ancestors(&self, class: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parents[class], |&parent| self.parents[parent])
    }

    /// Return the number of ancestors of a class.
    pub fn depth(&self, class: usize) -> usize {
        self.ancestors(class).count()
    }
}

/// Return the leaves of a list of classes. Only leaves have queues of packets.
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

//! Classes within classes, written as a list in which each may name another as its parent.

use units::Read;
use units::param::{Invalid, join};

/// What a tree must know of a class.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its name, if it has one.
    pub name: &'a Option<String>,
    /// The name of its parent, if it has one.
    pub parent: &'a Option<String>,
    /// Whether it is given what only a class without classes of its own can have: a match, or a queue.
    pub is_leaf: bool,
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
    pub fn read(entries: &[Entry], path: &str) -> Result<Tree, Invalid> {
        let at = |i: usize, key: &str| join(&join(&join(path, "classes"), i), key);
        let mut tree = Tree { parents: Vec::new(), inner: vec![false; entries.len()] };
        for (i, entry) in entries.iter().enumerate() {
            let named = |name: &String| entries[..i].iter().position(|e| e.name.as_ref() == Some(name));
            if let Some(name) = entry.name
                && named(name).is_some()
            {
                return Err(Invalid::new(
                    &at(i, "name"),
                    &name.write(),
                    "is also the name of a class before it",
                ));
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
        match (0..entries.len()).find(|&i| tree.inner[i] && entries[i].is_leaf) {
            Some(i) => {
                Err(Invalid::at(&at(i, "queue"), "and match are for classes that are nobody's parent")
                    .remedy("give them to the classes below it"))
            }
            None => Ok(tree),
        }
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

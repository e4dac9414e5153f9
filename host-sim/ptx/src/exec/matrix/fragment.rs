//! Distribution of matrix elements over the lanes of a warp (PTX ISA 7.8 section 9.7.13.4 "Matrix
//! Fragments").
//!
//! All shapes but one follow one rule. A matrix is divided into tiles that a warp holds with one
//! register per lane (for the sum: two elements per lane). A factor's tile has 8 rows of A, or 8
//! columns of B. Four lanes share each of them, and every lane has as many elements as its register
//! holds. A tile of the sum is 8 x 8, with two adjacent elements of a row per lane. The tiles of A
//! and of the sum follow each other down the columns, those of B along its columns.
//!
//! PTX leaves the fragments of `wmma` open. Here they follow the same rule, like several adjacent
//! `mma` of 8 columns. The exception is `mma.m8n8k4` of halves: four products at once, each by a
//! low and a high group of four lanes.

use crate::LANES;

/// Role of a matrix in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// The addend and the result.
    C,
}

/// Order in which adjacent elements in memory, or in the registers of `mma.m8n8k4`, lie in a
/// matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Along a row.
    Row,
    /// Down a column.
    Column,
}

/// Rows, columns and depth of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of A and of the sum.
    pub m: usize,
    /// Columns of B and of the sum.
    pub n: usize,
    /// Columns of A and rows of B.
    pub k: usize,
}

impl Shape {
    /// Parses a shape such as `m16n8k16`.
    pub(super) fn parse(text: &str) -> Option<Shape> {
        let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    }
}

/// Position of an element: product, row, column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Index of the product; 0 except in `mma.m8n8k4` of halves.
    pub product: usize,
    /// Row index.
    pub row: usize,
    /// Column index.
    pub column: usize,
}

/// Layout of the elements in the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Tiles with this many elements per lane.
    Tiles(usize),
    /// Groups of `mma.m8n8k4` of halves, with the order of a factor.
    Groups(Order),
    /// Groups of the f32 sum of `mma.m8n8k4`.
    GroupsOfSingles,
}

/// Distribution of one operand over a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Role of the operand.
    pub role: Role,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    layout: Layout,
}

impl Fragment {
    /// Returns the fragment by the general rule, with `run` adjacent elements per lane and tile.
    pub fn tiled(role: Role, shape: Shape, run: usize) -> Fragment {
        let (rows, columns) = match role {
            Role::A => (shape.m, shape.k),
            Role::B => (shape.k, shape.n),
            Role::C => (shape.m, shape.n),
        };
        Fragment { role, rows, columns, layout: Layout::Tiles(run) }
    }

    /// Returns the fragment of a factor or an f16 sum of `mma.m8n8k4` of halves.
    pub fn grouped(role: Role, order: Order) -> Fragment {
        Fragment { layout: Layout::Groups(order), ..Fragment::tiled(role, Shape { m: 8, n: 8, k: 4 }, 1) }
    }

    /// Returns the fragment of an f32 sum of `mma.m8n8k4` of halves.
    pub fn grouped_singles() -> Fragment {
        Fragment { layout: Layout::GroupsOfSingles, ..Fragment::grouped(Role::C, Order::Row) }
    }

    /// Returns the number of products computed at once.
    pub fn products(&self) -> usize {
        if matches!(self.layout, Layout::Tiles(_)) { 1 } else { 4 }
    }

    /// Returns the number of elements per lane.
    pub fn slots(&self) -> usize {
        self.products() * self.rows * self.columns / LANES
    }

    /// Returns the number of elements per lane and tile.
    pub fn run(&self) -> usize {
        if let Layout::Tiles(run) = self.layout { run } else { self.slots() }
    }

    /// Returns the number of tiles.
    pub fn tiles(&self) -> usize {
        self.slots() / self.run()
    }

    /// Returns the rows and columns of a tile.
    fn tile(&self) -> (usize, usize) {
        match self.role {
            Role::A => (8, 4 * self.run()),
            Role::B => (4 * self.run(), 8),
            Role::C => (8, 8),
        }
    }

    /// Returns the first row and column of a tile.
    fn corner(&self, tile: usize) -> (usize, usize) {
        let (rows, columns) = self.tile();
        let down = (self.rows / rows).max(1);
        (tile % down * rows, tile / down * columns)
    }

    /// Returns the position of a lane's element.
    pub fn place(&self, lane: usize, slot: usize) -> Place {
        let (group, member) = (lane / 4, lane % 4);
        match self.layout {
            Layout::Tiles(run) => {
                let (row, column) = self.corner(slot / run);
                let along = member * run + slot % run;
                let (down, right) = if self.role == Role::B { (along, group) } else { (group, along) };
                Place { product: 0, row: row + down, column: column + right }
            }
            Layout::Groups(order) => {
                let (product, across) = (group % 4, member + 4 * (group / 4));
                // Either the lane's number is the row and the slot the column, or the side of the
                // slot depends on the group.
                let (row, column) = match (self.role, order) {
                    (Role::A, Order::Row) | (Role::C, _) => (across, slot),
                    (Role::A, Order::Column) => (slot + 4 * (group / 4), member),
                    (Role::B, Order::Row) => (member, slot + 4 * (group / 4)),
                    (Role::B, Order::Column) => (slot, across),
                };
                Place { product, row, column }
            }
            Layout::GroupsOfSingles => {
                let row = (lane & 1) + (slot & 2) + 4 * (group / 4);
                let column = (slot & 4) + (lane & 2) + (slot & 1);
                Place { product: group % 4, row, column }
            }
        }
    }

    /// Returns the position of the first element that a lane moves between memory and the warp for
    /// a tile. The elements of a tile in memory order are divided into 32 pieces of
    /// [`Fragment::run`] elements, which are adjacent in that order.
    pub fn piece(&self, order: Order, lane: usize, tile: usize) -> Place {
        let (rows, columns) = self.tile();
        let (row, column) = self.corner(tile);
        let at = lane * self.run();
        let (down, right) = match order {
            Order::Row => (at / columns, at % columns),
            Order::Column => (at % rows, at / rows),
        };
        Place { product: 0, row: row + down, column: column + right }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all() -> Vec<Fragment> {
        let shape = |text| Shape::parse(text).unwrap();
        let mut all = Vec::new();
        for (name, run, sums) in [
            ("m16n8k8", 2, true),
            ("m16n8k16", 2, true),
            ("m16n8k4", 1, true),
            ("m16n8k8", 1, true),
            ("m8n8k4", 1, true),
            ("m8n8k16", 4, true),
            ("m16n8k32", 4, false),
            ("m8n8k32", 8, false),
            ("m16n8k64", 8, false),
            ("m16n8k256", 32, false),
            ("m16n16k16", 2, true),
            ("m32n8k16", 2, true),
            ("m8n32k16", 2, true),
            ("m8n32k16", 4, false),
            ("m16n16k8", 1, false),
        ] {
            all.extend([Role::A, Role::B].map(|role| Fragment::tiled(role, shape(name), run)));
            all.extend(sums.then(|| Fragment::tiled(Role::C, shape(name), 2)));
        }
        for order in [Order::Row, Order::Column] {
            all.extend([Role::A, Role::B, Role::C].map(|role| Fragment::grouped(role, order)));
        }
        all.push(Fragment::grouped_singles());
        all
    }

    /// Every element is held exactly once.
    #[test]
    fn fragments_are_partitions() {
        for fragment in all() {
            let places: BTreeSet<Place> =
                (0..LANES).flat_map(|lane| (0..fragment.slots()).map(move |slot| fragment.place(lane, slot))).collect();
            assert_eq!(places.len(), fragment.products() * fragment.rows * fragment.columns, "{fragment:?}");
            assert!(places.iter().all(|p| p.product < 4 && p.row < fragment.rows && p.column < fragment.columns), "{fragment:?}");
        }
    }

    /// The pieces of all tiles are a partition too, in either order.
    #[test]
    fn pieces_are_partitions() {
        for fragment in all().into_iter().filter(|f| f.products() == 1) {
            for order in [Order::Row, Order::Column] {
                let mut places = BTreeSet::new();
                for (lane, tile) in (0..LANES).flat_map(|lane| (0..fragment.tiles()).map(move |tile| (lane, tile))) {
                    let start = fragment.piece(order, lane, tile);
                    for step in 0..fragment.run() {
                        let (down, right) = if order == Order::Row { (0, step) } else { (step, 0) };
                        places.insert((start.row + down, start.column + right));
                    }
                }
                // For the widest elements, the side of a tile is shorter than a piece across it;
                // PTX has only one order for them.
                let long = fragment.run() > 8;
                assert!(long || places.len() == fragment.rows * fragment.columns, "{fragment:?} {order:?}");
                assert!(long || places.iter().all(|&(row, column)| row < fragment.rows && column < fragment.columns));
            }
        }
    }

    /// Fragments have the rows and columns of PTX ISA 7.8, for each of its forms.
    #[test]
    fn as_the_tables_say() {
        let shape = |text| Shape::parse(text).unwrap();
        for lane in 0..LANES {
            let (group, member) = (lane >> 2, lane % 4);
            let at = |fragment: Fragment, slot: usize| (fragment.place(lane, slot).row, fragment.place(lane, slot).column);
            for i in 0..8 {
                // Fragments of m16n8k16 of halves and m16n8k32 of bytes.
                let half = Fragment::tiled(Role::A, shape("m16n8k16"), 2);
                let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
                assert_eq!(at(half, i), (row, member * 2 + (i & 1) + if i < 4 { 0 } else { 8 }));
                let byte = Fragment::tiled(Role::B, shape("m16n8k32"), 4);
                assert_eq!(at(byte, i), (member * 4 + (i & 3) + if i < 4 { 0 } else { 16 }, group));
            }
            for i in 0..4 {
                let tf32 = Fragment::tiled(Role::A, shape("m16n8k8"), 1);
                let row = if i % 2 == 0 { group } else { group + 8 };
                assert_eq!(at(tf32, i), (row, member + if i < 2 { 0 } else { 4 }));
                let half = Fragment::tiled(Role::B, shape("m16n8k16"), 2);
                assert_eq!(at(half, i), (member * 2 + (i & 1) + if i < 2 { 0 } else { 8 }, group));
                let sum = Fragment::tiled(Role::C, shape("m16n8k16"), 2);
                assert_eq!(at(sum, i), (if i < 2 { group } else { group + 8 }, member * 2 + (i & 1)));
                let high = if lane < 16 { 0 } else { 4 };
                assert_eq!(at(Fragment::grouped(Role::A, Order::Row), i), (lane % 4 + high, i));
                assert_eq!(at(Fragment::grouped(Role::A, Order::Column), i), (i % 4 + high, lane % 4));
                assert_eq!(at(Fragment::grouped(Role::B, Order::Row), i), (lane % 4, i + high));
                assert_eq!(at(Fragment::grouped(Role::B, Order::Column), i), (i, lane % 4 + high));
            }
            for i in 0..32 {
                let bits = Fragment::tiled(Role::A, shape("m16n8k128"), 32);
                assert_eq!(at(bits, i), (group, member * 32 + i));
                let nibbles = Fragment::tiled(Role::A, shape("m16n8k64"), 8);
                let row = if i < 8 || (16..24).contains(&i) { group } else { group + 8 };
                assert_eq!(at(nibbles, i), (row, member * 8 + (i & 7) + if i < 16 { 0 } else { 32 }));
            }
        }
    }
}

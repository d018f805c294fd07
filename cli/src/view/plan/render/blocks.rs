//! Nested blocks of an object: each group in turn, what changed in it and what is hidden.

use entail::plan::Action;
use entail::schema::Nesting;
use entail::value::Str;
use entail::value::text::push_shown;

use super::super::diff::{Blocks, Diff, Kind};
use super::{Options, Renderer, attribute_name};

/// The blocks of one type with its name.
type NamedBlocks = (Str, Blocks);

impl Renderer {
    pub(super) fn sensitive_block(
        &self,
        out: &mut String,
        diff: &Diff,
        indent: usize,
        options: Options,
    ) {
        out.push('{');
        self.forces(out, diff.replace, options);
        let mut start = String::from("\n");
        self.start(&mut start, indent, Action::NoOp, options);
        out.push_str(&format!(
            "{start}  # At least one attribute in this block is (or was) sensitive,{start}  # so its contents will not be \
             displayed.{start}}}",
        ));
    }

    pub(super) fn block(
        &self,
        out: &mut String,
        diff: &Diff,
        (attributes, blocks): (&[(Str, Diff)], &[NamedBlocks]),
        indent: usize,
        options: Options,
    ) {
        if attributes.is_empty() && blocks.is_empty() {
            out.push_str("{}");
            self.forces(out, diff.replace, options);
            return;
        }
        out.push('{');
        self.forces(out, diff.replace, options);
        out.push('\n');
        let left_out = self.attributes(out, attributes, indent + 1, options.beneath());
        self.hidden(out, (left_out, "attribute"), indent + 1, options);

        let mut unchanged = 0;
        for (name, group) in blocks {
            let options = match group.nesting {
                Nesting::Set => Options { force_replacement: diff.replace, ..options },
                _ => options,
            };
            unchanged +=
                self.blocks(out, (name, group), !attributes.is_empty(), indent + 1, options);
        }
        if unchanged > 0 {
            out.push('\n');
            self.hidden(out, (unchanged, "block"), indent + 1, options);
        }
        self.start(out, indent, Action::NoOp, options);
        out.push('}');
    }

    /// Appends the blocks of one type. Returns how many are left out.
    pub(super) fn blocks(
        &self,
        out: &mut String,
        (name, group): (&str, &Blocks),
        parted: bool,
        indent: usize,
        options: Options,
    ) -> usize {
        let mut left_out = 0;
        let mut is_first = true;
        for (label, block) in &group.blocks {
            let covered = covered(block, group);
            let block = covered.as_ref().unwrap_or(block);
            if block.action == Action::NoOp && !options.show_unchanged {
                left_out += 1;
                continue;
            }
            if is_first && parted {
                out.push('\n');
            }
            is_first = false;
            let options = Options { force_replacement: group.replace, ..options };
            self.warnings(out, block, indent);
            self.start(out, indent, block.action, options);
            out.push_str(&attribute_name(name));
            out.push(' ');
            if let Some(label) = label {
                push_shown(out, label);
                out.push(' ');
            }
            self.diff(out, block, indent, options);
            out.push('\n');
        }
        left_out
    }
}

/// Returns the cover for a block where all blocks of its type are sensitive.
fn covered(block: &Diff, group: &Blocks) -> Option<Diff> {
    let (before, after) = (group.before_sensitive, group.after_sensitive);
    let is_covered = match block.action {
        Action::Create => after,
        Action::Delete => before,
        _ => before || after,
    };
    let action =
        if block.action == Action::NoOp && before != after { Action::Update } else { block.action };
    let kind = Kind::SensitiveBlock { before, after, inner: block.action };
    is_covered.then_some(Diff { kind, action, replace: block.replace })
}

//! A resource, data source or ephemeral resource looked at with nothing decided, and its provider asked.

use super::{Check, problems, unread};
use crate::address::Mode;
use crate::config::{self, IgnoreChanges, uses, uses::Role};
use crate::diagnostic::Diagnostics;
use crate::execute::provision;
use crate::expression::{self, body};
use crate::lower::structure::ModuleId;
use crate::observe::object::misused;
use crate::observe::object::written_path;
use crate::observe::problems::of_provider;
use crate::operation::attributes;
use crate::schema::Schema;
use crate::value::{Type, convert::convert};

impl Check<'_> {
    /// Looks at what says how often there is one, at the arguments, at the conditions and at the provisioners: what is wrong
    /// with one of them keeps nobody from looking at the others.
    pub(super) async fn resource(
        &self,
        module: ModuleId,
        number: usize,
        block: &config::Resource,
    ) -> Diagnostics {
        let config = self.values.structure.module(module).config.clone();
        if let Some(found) = self.plain_resource(module, number, block).await {
            return found;
        }
        let mut uses = uses::of_resource(block);
        // A provider that could not be started has been told of.
        let Some(provider) = self.pool.schema(&block.provider_source) else {
            return self.references(&config, uses.iter());
        };
        let schema =
            self.pool.resource_schema(&block.provider_source, block.name.mode, &block.name.kind);
        let unread = unread::of_resource(self.pool, block);
        uses.retain(|it| it.role != Role::Value || !unread::is_within(it.expression.span, &unread));
        let mut found = Diagnostics::new();
        let mut are_sound = |of: fn(Role) -> bool| {
            let wrong = self.references(&config, uses.iter().filter(|it| of(it.role)));
            let are_sound = !wrong.has_errors();
            found.extend(wrong);
            are_sound
        };
        let repeats = are_sound(|it| it == Role::Repetition);
        let has_body = are_sound(|it| it == Role::Value);
        let has_rest = are_sound(|it| !matches!(it, Role::Repetition | Role::Value));
        if repeats {
            found.extend(self.repetition(module, &block.besides.repetition));
        }
        match schema {
            Some(schema) if has_body => found.extend(self.body(module, block, schema).await),
            Some(_) => {}
            None => found.push(problems::unknown_type(block, provider)),
        }
        if has_rest {
            self.lifecycle(module, block, &mut found);
            if !block.besides.provisioners.is_empty() {
                let scope = self.values.scope(module);
                let scope = scope.with_self(self.object_of(module, &block.name));
                let checked = provision::check(block, &self.pool.provisioners, &scope).await;
                // A plugin's arguments are evaluated for the second time.
                let checked = checked.beyond(&found);
                found.extend(checked);
            }
        }
        found
    }

    /// Looks at a resource of which nothing is evaluated but its arguments, and all of these: an attribute that is not there is
    /// found by that. `None` where one is not there, so that it must be looked at closely.
    async fn plain_resource(
        &self,
        module: ModuleId,
        number: usize,
        block: &config::Resource,
    ) -> Option<Diagnostics> {
        self.session.graph.plain_reads(number)?;
        if self.told.has_errors() {
            return None;
        }
        let schema =
            self.pool.resource_schema(&block.provider_source, block.name.mode, &block.name.kind)?;
        let found = self.body(module, block, schema).await;
        let first = self.first_alike(number).filter(|_| found.is_empty());
        self.right.lock().extend(first);
        let config = &self.values.structure.module(module).config;
        let is_sound = !found.has_errors()
            || !self.references(config, uses::of_resource(block).iter()).has_errors();
        is_sound.then_some(found)
    }

    async fn body(
        &self,
        module: ModuleId,
        block: &config::Resource,
        schema: &Schema,
    ) -> Diagnostics {
        let (value, mut found) =
            body::decode_body(&block.body, &schema.block, &self.values.scope(module), &[]);
        let mut failed = found.has_errors();
        let address = || {
            let module = self.values.structure.module(module).address.module();
            crate::address::ConfigResource { module, resource: block.name.clone() }
        };
        if !failed {
            let misused = misused(block, schema, &value);
            failed |= !misused.is_empty();
            found.extend(misused.into_iter().map(|it| it.about(address())));
        }
        let Some(provider) = self.pool.unconfigured(&block.provider_source).filter(|_| !failed)
        else {
            return found;
        };
        ignored(block, schema, &mut found);
        let (kind, value) = (&*block.name.kind, value.to_plain());
        let answer = match block.name.mode {
            Mode::Managed => provider.validate_resource(kind, &value).await,
            Mode::Data => provider.validate_data(kind, &value).await,
            Mode::Ephemeral => provider.validate_ephemeral(kind, &value).await,
        };
        found.extend(
            answer.iter().map(|it| of_provider(it, None, Some(&block.body)).about(address())),
        );
        found
    }

    fn lifecycle(&self, module: ModuleId, block: &config::Resource, found: &mut Diagnostics) {
        let is_plain = !block.besides.lifecycle.has_conditions()
            && block.besides.lifecycle.prevent_destroy.is_none();
        if is_plain && block.besides.connection.is_none() && block.besides.provisioners.is_empty() {
            return;
        }
        let scope = self.values.scope(module);
        found.extend(self.conditions(&block.besides.lifecycle.preconditions, &scope));
        let own = self.object_of(module, &block.name);
        let scope = self.values.scope(module).with_self(own);
        found.extend(self.conditions(&block.besides.lifecycle.postconditions, &scope));
        if let Some(expression) = &block.besides.lifecycle.prevent_destroy {
            let constant = expression::evaluate_constant(expression);
            if let Some(Err(why)) = constant.ok().map(|it| convert(&it, Type::BOOL)) {
                found.push(problems::bad_prevent_destroy(
                    &block.name,
                    &why.to_string(),
                    expression.span,
                ));
            }
        }
        let bodies = block
            .besides
            .provisioners
            .iter()
            .flat_map(|it| [&it.body].into_iter().chain(&it.connection));
        for it in block.besides.connection.as_deref().into_iter().chain(bodies) {
            found.extend(body::walk_body(it, &scope, &[]));
        }
    }
}

/// Checks that each path of `ignore_changes` leads somewhere, and to something that is configured.
fn ignored(block: &config::Resource, schema: &Schema, found: &mut Diagnostics) {
    let IgnoreChanges::Paths(paths) = &block.besides.lifecycle.ignore_changes else { return };
    for expression in paths {
        let Some((root, steps)) = expression.as_traversal() else { continue };
        if let Some(problem) = attributes::missing_along(&schema.block, &root.name(), steps) {
            found.push(problem);
            continue;
        }
        let Some(path) = written_path(expression) else { continue };
        let decided =
            schema.block.attribute_at(&path).is_some_and(|it| it.computed && !it.optional);
        if decided && !found.has_errors() {
            found.push(problems::redundant_ignore(&path, block.labels.0));
        }
    }
}

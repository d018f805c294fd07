//! The plan itself in the document of a saved plan: what is written is read in the same order.

use super::super::codec::{Damaged, Decoder, Encoder, Read};
use super::super::{
    Action, Change, ChangeList, Details, Identities, LeftOut, NotLookedAt, OutputChange, Plan,
    Reason, reason_of_token, reason_token,
};
use crate::provider::ImportName;
use crate::rarely::Rarely;
use crate::request::PlanMode;
use crate::state::{CheckResult, State};
use crate::value::{Path, Str};

pub(super) fn write_plan(out: &mut Encoder, plan: &Plan) {
    // Taken apart by name, so that a new member is not forgotten.
    let Plan {
        mode,
        errored,
        changes,
        drift,
        outputs,
        prior_state: _,
        previous_state: _,
        variables,
        given_variables,
        targets,
        excludes,
        replaces,
        timestamp,
        left_out,
        not_looked_at: _,
        checks,
        relevant_attributes,
        workspace,
    } = plan;
    out.number(match mode {
        PlanMode::Normal => 0,
        PlanMode::Destroy => 1,
        PlanMode::RefreshOnly => 2,
    });
    out.flag(*errored);
    out.list(changes, write_change);
    out.list(drift, write_change);
    let outputs: Vec<&OutputChange> = outputs.values().collect();
    out.list(&outputs, |out, it| write_output(out, it));
    for values in [variables, given_variables] {
        let values: Vec<_> = values.iter().collect();
        out.list(&values, |out, (name, value)| {
            out.text(name);
            out.value(value);
        });
    }
    out.list(targets, |out, it| out.text(it));
    out.list(excludes, |out, it| out.text(it));
    out.list(replaces, Encoder::instance);
    out.text(&timestamp.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true));
    out.list(left_out, write_left_out);
    out.list(checks, write_check);
    out.list(relevant_attributes, |out, (address, path)| {
        out.text(address);
        out.path(path);
    });
    out.text(workspace);
}

pub(super) fn read_plan(
    input: &mut Decoder<'_>,
    (prior_state, previous_state): (State, State),
) -> Read<Plan> {
    let text = |input: &mut Decoder<'_>| Ok(input.text()?.to_string());
    let named_value = |input: &mut Decoder<'_>| Ok((input.text()?, input.value()?));
    Ok(Plan {
        mode: match input.number()? {
            0 => PlanMode::Normal,
            1 => PlanMode::Destroy,
            2 => PlanMode::RefreshOnly,
            _ => return Err(Damaged),
        },
        errored: input.flag()?,
        changes: input.list(read_change)?,
        drift: input.list(read_change)?,
        outputs: input.list(|input| read_output(input).map(|it| (it.name.clone(), it)))?,
        prior_state,
        previous_state,
        variables: input.list(named_value)?,
        given_variables: input.list(named_value)?,
        targets: input.list(text)?,
        excludes: input.list(text)?,
        replaces: input.list(Decoder::instance)?,
        timestamp: input.text()?.parse().map_err(|_| Damaged)?,
        left_out: input.list(read_left_out)?,
        not_looked_at: NotLookedAt::default(),
        checks: input.list(read_check)?,
        relevant_attributes: input.list(|input| Ok((input.text()?.to_string(), input.path()?)))?,
        workspace: text(input)?,
    })
}

fn write_change(out: &mut Encoder, change: &Change) {
    let Change { address, deposed, served_by, action, reason, before, after, details } = change;
    let Details {
        previous_address,
        replace_paths,
        private,
        identity,
        importing,
        generated_config,
        deposes,
        configured_secrets: _,
    } = &**details;
    out.instance(address);
    out.option(deposed.as_deref(), Encoder::text);
    out.option(previous_address.as_deref(), Encoder::instance);
    out.provider(served_by);
    write_action(out, *action);
    let token = Some(reason_token(*reason)).filter(|it| !it.is_empty());
    out.option(token, |out, it| out.name(it));
    out.value(before);
    // What stays is kept once.
    out.option((before != after).then_some(after), Encoder::value);
    out.list(replace_paths, Encoder::path);
    out.bytes(private);
    out.option(identity.before(), Encoder::value);
    out.option(identity.after(), Encoder::value);
    out.option(importing.as_deref().and_then(ImportName::id), Encoder::text);
    let identity = importing.as_deref().and_then(ImportName::identity);
    out.option(identity, Encoder::value);
    out.option(generated_config.as_deref(), Encoder::text);
    out.option(deposes.as_deref(), Encoder::text);
}

fn read_change(input: &mut Decoder<'_>) -> Read<Change> {
    let text = |input: &mut Decoder<'_>| Ok(input.text()?.to_string());
    let (address, deposed) = (input.instance()?, input.option(Decoder::text)?);
    let previous_address = input.option(Decoder::instance)?.map(Box::new);
    let served_by = input.provider()?;
    let action = read_action(input)?;
    let reason = input.option(|input| reason_of_token(&input.name()?).ok_or(Damaged))?;
    let reason = reason.unwrap_or(Reason::Plain);
    let before = input.value()?;
    let after = input.option(Decoder::value)?.unwrap_or_else(|| before.clone());
    let details = Details {
        previous_address,
        replace_paths: input.list(Decoder::path)?,
        private: input.bytes()?.to_vec().into(),
        identity: Identities::of(input.option(Decoder::value)?, input.option(Decoder::value)?),
        importing: {
            let id = input.option(text)?.map(ImportName::Id);
            let identity = input.option(Decoder::value)?.map(ImportName::Identity);
            id.or(identity).map(Box::new)
        },
        generated_config: input.option(text)?.map(Into::into),
        deposes: input.option(Decoder::text)?,
        configured_secrets: None,
    };
    let details = Rarely::of(details);
    Ok(Change { address, deposed, served_by, action, reason, before, after, details })
}

fn write_action(out: &mut Encoder, action: Action) {
    let number = Action::ALL.iter().position(|it| *it == action).expect("every action is listed");
    out.number(number as u64);
}

fn read_action(input: &mut Decoder<'_>) -> Read<Action> {
    Action::ALL.get(input.number()? as usize).copied().ok_or(Damaged)
}

fn write_output(out: &mut Encoder, change: &OutputChange) {
    let OutputChange { name, before, after, action, sensitive } = change;
    out.text(name);
    out.value(before);
    out.value(after);
    write_action(out, *action);
    out.flag(*sensitive);
}

fn read_output(input: &mut Decoder<'_>) -> Read<OutputChange> {
    Ok(OutputChange {
        name: input.text()?,
        before: input.value()?,
        after: input.value()?,
        action: read_action(input)?,
        sensitive: input.flag()?,
    })
}

/// Writes what stands behind everything else: plans from before it was there end without it.
pub(super) fn write_not_looked_at(out: &mut Encoder, it: NotLookedAt) {
    let NotLookedAt { untargeted, data } = it;
    out.number(untargeted as u64);
    out.number(data as u64);
}

pub(super) fn read_not_looked_at(input: &mut Decoder<'_>) -> Read<NotLookedAt> {
    if input.is_finished() {
        return Ok(NotLookedAt::default());
    }
    Ok(NotLookedAt { untargeted: input.number()? as usize, data: input.number()? as usize })
}

/// Writes what is sensitive by the configuration alone, with the number of the change. It comes last: earlier plans end without it.
pub(super) fn write_secrets(out: &mut Encoder, changes: &ChangeList) {
    let secrets = |it: &Change| it.details.configured_secrets.clone();
    let all: Vec<_> =
        changes.iter().enumerate().filter_map(|it| Some((it.0, secrets(it.1)?))).collect();
    out.list(&all, |out, (number, paths)| {
        out.number(*number as u64);
        out.list(paths, Encoder::path);
    });
}

pub(super) fn read_secrets(input: &mut Decoder<'_>, changes: &mut ChangeList) -> Read<()> {
    if input.is_finished() {
        return Ok(());
    }
    let all: Vec<(u64, Vec<Path>)> =
        input.list(|input| Ok((input.number()?, input.list(Decoder::path)?)))?;
    for (number, paths) in all {
        let at = usize::try_from(number).ok().filter(|it| *it < changes.len()).ok_or(Damaged)?;
        changes[at].details.configured_secrets = Some(paths.into());
    }
    Ok(())
}

fn write_left_out(out: &mut Encoder, it: &LeftOut) {
    let LeftOut { root, flag, objects } = it;
    out.text(root);
    out.text(flag);
    out.list(objects, |out, it| out.text(it));
}

fn read_left_out(input: &mut Decoder<'_>) -> Read<LeftOut> {
    let text = |input: &mut Decoder<'_>| Ok(input.text()?.to_string());
    Ok(LeftOut { root: text(input)?, flag: text(input)?, objects: input.list(text)? })
}

fn write_check(out: &mut Encoder, it: &CheckResult) {
    let CheckResult { kind, config_address, status, objects } = it;
    for text in [kind, config_address, status] {
        out.name(text);
    }
    out.option(objects.as_ref(), |out, objects| {
        out.list(objects, |out, (address, status, messages)| {
            out.text(address);
            out.name(status);
            out.list(messages, |out, it| out.text(it));
        });
    });
}

fn read_check(input: &mut Decoder<'_>) -> Read<CheckResult> {
    let object = |input: &mut Decoder<'_>| -> Read<(Str, Str, Vec<Str>)> {
        Ok((input.text()?, input.name()?, input.list(Decoder::text)?))
    };
    Ok(CheckResult {
        kind: input.name()?,
        config_address: input.name()?,
        status: input.name()?,
        objects: input.option(|input| input.list(object))?,
    })
}

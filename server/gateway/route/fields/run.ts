import { isUtf8 } from 'node:buffer';
import { compileSelectors, type Place } from '#server/custody/fields/selectors.ts';
import { paced, type Steps } from '#server/kernel/slices.ts';
import type { FieldAction } from '../../snapshot/field-actions.ts';
import { FieldActionFailed, failure } from './failure.ts';
import { pickForm } from './form-picks.ts';
import { pickJson } from './json-picks.ts';
import type { FieldWork } from './perform.ts';
import { newPick, type Pick, type Picker, spliced, Unwalkable } from './picks.ts';
import { type FieldValue, FORM_FORMAT, type Format, HEADER_FORMAT, JSON_FORMAT } from './values.ts';

/**
 * What became of a message. Pieces are in order and share the memory of what came in. `shown` is the same for people and logs: no value that was revealed
 * is in it; null when that can't be told any more.
 */
export type Done = {
  pieces: Buffer[];
  bytes: number;
  changed: boolean;
  shown: Buffer[] | null;
  signatures: [name: string, value: string][];
};

export type MediaType = 'application/json' | 'application/x-www-form-urlencoded' | 'application/x-ndjson';

/** Runs the actions of one body, or one line of a body, in their order. @throws FieldActionFailed */
export function runOnBody(work: FieldWork, actions: readonly FieldAction[], type: MediaType, bytes: Buffer): Promise<Done> {
  const pick = type === 'application/x-www-form-urlencoded' ? pickInForm : pickInJson;
  return run({ work, actions, format: pick === pickInForm ? FORM_FORMAT : JSON_FORMAT, pick, what: 'body' }, bytes);
}

/** Runs the actions of a query, which has no `?`. @throws FieldActionFailed */
export const runOnQuery = (work: FieldWork, actions: readonly FieldAction[], query: Buffer): Promise<Done> =>
  run({ work, actions, format: FORM_FORMAT, pick: pickInForm, what: 'query' }, query);

const pickInForm: Run['pick'] = function* (bytes, pickers) {
  return { picks: yield* pickForm(bytes, pickers), end: bytes.length, empty: bytes.length === 0 };
};

const pickInJson: Run['pick'] = function* (bytes, pickers) {
  if (!isUtf8(bytes)) throw new Unwalkable('is not valid UTF-8');
  const { picks, close, empty } = yield* pickJson(bytes, pickers);
  return { picks, end: close, empty };
};

export type HeaderValue = { name: string; lower: string; value: string };

/** Runs the actions of headers; answers all of them, as they are now and as they may be shown. @throws FieldActionFailed */
export async function runOnHeaders(
  work: FieldWork,
  actions: readonly FieldAction[],
  headers: readonly HeaderValue[],
): Promise<{ now: string; shown: string }[]> {
  const values = headers.map(({ value }) => Buffer.from(value, 'latin1'));
  const bytes = Buffer.concat(values);
  let at = 0;
  const picks = headers.map(({ lower, name }, i) => {
    const from = at;
    at += (values[i] as Buffer).length;
    return newPick('text', from, at, bitsFor(actions, lower), name);
  });
  await applyAll({ work, format: HEADER_FORMAT }, { bytes, picks, end: -1, empty: true }, actions, []);
  const text = (pick: Pick, view: 'now' | 'shown') => Buffer.from(pick[view] ?? '').toString('latin1');
  return picks.map((pick, i) => {
    const value = headers[i]?.value ?? '';
    return { now: pick.now === null ? value : text(pick, 'now'), shown: pick.shown === null ? value : text(pick, 'shown') };
  });
}

const bitsFor = (actions: readonly FieldAction[], name: string): number =>
  actions.reduce((bits, { selectors: { root } }, i) => (!root.closed && root.member(name).picked ? bits | (1 << i) : bits), 0);

/** `end`: where a member or field can be added; -1: nowhere. */
type Found = { picks: Pick[]; end: number; empty: boolean };
/** A message whose values were picked. */
type Picked = Found & { bytes: Buffer };
type Run = {
  work: FieldWork;
  actions: readonly FieldAction[];
  format: Format;
  pick: (bytes: Buffer, pickers: readonly Picker[]) => Steps<Found>;
  what: 'body' | 'query';
};
type Applying = { work: FieldWork; format: Format };

/** A longer value would be read, changed and written in one go, while every other call waits. */
const LONGEST_VALUE = 1024 * 1024;

/** As many as there are bits for, with two pickers each. More run in walks of their own. */
const AT_ONCE = 15;

/** What each action picks, then the members that signatures are written to. */
function pickersOf(actions: readonly FieldAction[]): readonly Picker[] {
  let pickers = known.get(actions);
  if (!pickers) {
    const values = actions.map(({ everything, selectors, whole }) => (everything ? NO_PICKER : { root: selectors.root, whole }));
    const members = actions.map(({ signatureMember: name }) => (name === null ? NO_PICKER : { root: memberPlace(name), whole: true }));
    pickers = members.every((one) => one === NO_PICKER) ? values : [...values, ...members];
    known.set(actions, pickers);
  }
  return pickers;
}
const known = new WeakMap<readonly FieldAction[], readonly Picker[]>();

const NOTHING: Place = { picked: false, closed: true, member: () => NOTHING, element: () => NOTHING };
const NO_PICKER: Picker = { root: NOTHING, whole: false };
const memberPlace = (name: string): Place => compileSelectors([`$['${name.replace(/['\\]/g, '\\$&')}']`]).root;

async function run(one: Run, body: Buffer): Promise<Done> {
  let bytes = body;
  let left = one.actions;
  let showable = true;
  const signatures: [string, string][] = [];
  for (;;) {
    const now = left.length > AT_ONCE ? left.slice(0, AT_ONCE) : left;
    let found: Found;
    try {
      found = await paced(one.pick(bytes, pickersOf(now)), bytes.length);
    } catch (error) {
      if (!(error instanceof Unwalkable)) throw error;
      const strict = left.find((action) => action.strict);
      if (strict) throw new FieldActionFailed(`The ${strict.name} action of this route can't be applied: the ${one.what} ${error.reason}.`);
      for (const action of left) one.work.warn(action, 'unreadable');
      return doneOf(bytes, [], body, signatures, showable);
    }
    const stopped = await applyAll(one, { bytes, ...found }, now, signatures);
    const rest = left.slice(stopped ?? now.length);
    if (rest.length === 0) return doneOf(bytes, found.picks, body, signatures, showable);
    // A value became an object that later actions look into: they walk through what there is now.
    if (found.picks.some((pick) => pick.now !== null)) {
      showable &&= found.picks.every((pick) => pick.now === pick.shown);
      bytes = Buffer.concat(spliced(bytes, found.picks, 'now'));
    }
    left = rest;
  }
}

function doneOf(bytes: Buffer, picks: readonly Pick[], body: Buffer, signatures: [string, string][], showable: boolean): Done {
  const changed = bytes !== body || picks.some(({ now }) => now !== null);
  const pieces = changed ? spliced(bytes, picks, 'now') : [bytes];
  const alike = picks.every(({ now, shown }) => now === shown);
  const shown = !showable ? null : alike ? pieces : spliced(bytes, picks, 'shown');
  return { pieces, bytes: pieces.reduce((sum, piece) => sum + piece.length, 0), changed, shown, signatures };
}

/** Runs the actions in their order; how many, when the others need another walk. */
async function applyAll(
  one: Applying,
  found: Picked,
  actions: readonly FieldAction[],
  signatures: [string, string][],
): Promise<number | undefined> {
  for (const [i, action] of actions.entries()) {
    const picks = picked(found.picks, 1 << i);
    if (action.name === 'sign') await sign(one, action, picks[0], found, signatures, 1 << (i + actions.length));
    else if ((await apply(one, action, picks, found)) && i + 1 < actions.length) return i + 1;
  }
  return undefined;
}

/** Those that an action picks and that are still there: what is inside of a value that was replaced as a whole is gone. */
function picked(picks: readonly Pick[], bit: number): Pick[] {
  let until = -1;
  return picks.filter((pick) => {
    if (pick.from < until) return false;
    if (pick.now !== null && (pick.kind === 'object' || pick.kind === 'array')) until = pick.to;
    return (pick.actions & bit) !== 0;
  });
}

/** Whether a value became an object or a list. */
async function apply(one: Applying, action: FieldAction, picks: readonly Pick[], { bytes, picks: all }: Picked): Promise<boolean> {
  if (picks.length === 0) return false;
  const read: { pick: Pick; value: FieldValue }[] = [];
  for (const pick of picks) {
    await one.work.breathe();
    const source = sourceOf(bytes, pick, all);
    if (source.length > LONGEST_VALUE) {
      if (action.strict) throw failure(action, pick, 'it is longer than 1 MiB');
      one.work.warn(action, 'too_long');
      continue;
    }
    const value = one.format.read(source, pick.is);
    if (value) read.push({ pick, value });
    else if (action.strict) throw failure(action, pick, 'its characters are not valid Unicode');
    else one.work.warn(action, 'unreadable');
  }
  let structure = false;
  const results = await one.work.perform(
    action,
    read.map(({ value }) => value),
    (i) => read[i]?.pick.at ?? '',
  );
  for (const [i, result] of results.entries()) {
    if (result === undefined) continue;
    await one.work.breathe();
    const { pick } = read[i] as (typeof read)[number];
    const text = one.format.write(result);
    if (text === undefined) {
      if (action.strict) throw failure(action, pick, "the result contains characters that can't stand there");
      one.work.warn(action, 'unwritable');
      continue;
    }
    const before = pick.now === null ? null : pick.shown;
    // What was revealed stays out of sight; what protects it again may be seen.
    if (action.effect === 'reveals') pick.shown = pick.now === null ? sourceText(bytes, pick) : before;
    else pick.shown = text;
    pick.now = text;
    pick.is = result.kind;
    if (result.kind === 'object' || result.kind === 'array') structure = true;
  }
  return structure;
}

const sourceText = (bytes: Buffer, { from, to }: Pick): string => bytes.toString('utf8', from, to);

/** What stands there now: of an object, with what was changed inside of it. */
function sourceOf(bytes: Buffer, pick: Pick, all: readonly Pick[]): string | Buffer {
  if (pick.now !== null) return pick.now;
  if (pick.kind !== 'object' && pick.kind !== 'array') return bytes.subarray(pick.from, pick.to);
  const inside = all.filter((other) => other !== pick && other.from >= pick.from && other.to <= pick.to);
  return inside.some(({ now }) => now !== null)
    ? Buffer.concat(spliced(bytes, inside, 'now', pick.from, pick.to))
    : bytes.subarray(pick.from, pick.to);
}

/** The signature of the body as it is at this point, or of the one value that is picked; without that value there is none. */
async function sign(
  one: Applying,
  action: FieldAction,
  pick: Pick | undefined,
  found: Picked,
  signatures: [string, string][],
  members: number,
): Promise<void> {
  const { bytes, picks } = found;
  if (!action.everything && pick === undefined) return;
  let data: Buffer;
  if (pick === undefined) {
    const pieces = spliced(bytes, picks, 'now');
    data = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  } else {
    const value = one.format.read(sourceOf(bytes, pick, picks), pick.is);
    if (!value) {
      if (action.strict) throw failure(action, pick, 'its characters are not valid Unicode');
      one.work.warn(action, 'unreadable');
      return;
    }
    data = Buffer.from(value.text);
  }
  const signature = await one.work.sign(action, data, pick?.at ?? '');
  if (signature === undefined) return;
  if (action.signatureHeader !== null) signatures.push([action.signatureHeader, signature]);
  else addMember(one, action, members, found, signature);
}

/** Into the member of that name, or behind the last one. */
function addMember(one: Applying, action: FieldAction, members: number, { picks, end, empty }: Picked, signature: string): void {
  const isForm = one.format === FORM_FORMAT;
  const text = one.format.write({ kind: 'string', text: signature }) ?? '';
  const there = picked(picks, members);
  for (const pick of there) {
    pick.now = text;
    pick.shown = text;
    pick.is = 'string';
  }
  if (there.length > 0) return;
  const gone = picks.some(({ kind, to, now }) => (kind === 'object' || kind === 'array') && to > end && now !== null);
  if (end < 0 || gone) {
    if (action.strict) throw failure(action, '', 'the body is not a JSON object, so nothing can be added to it');
    one.work.warn(action, 'unwritable');
    return;
  }
  const first = empty && !picks.some(({ from, to }) => from === end && to === end);
  const name = action.signatureMember ?? '';
  const pick = newPick('string', end, end, 0, '');
  pick.now = `${first ? '' : isForm ? '&' : ','}${isForm ? `${one.format.write({ kind: 'string', text: name })}=` : `${JSON.stringify(name)}:`}${text}`;
  pick.shown = pick.now;
  picks.push(pick);
}

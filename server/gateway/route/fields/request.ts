import { paced } from '#server/kernel/slices.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import type { LineEdit } from '../../core/answer-edit.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { FieldAction, FieldSide } from '../../snapshot/field-actions.ts';
import { hostAllowed } from '../../templates/resolve.ts';
import { signsBody } from '../../upstream-auth/sign.ts';
import type { RouteCall } from '../route-call.ts';
import { fieldContext } from './context.ts';
import { FieldActionFailed } from './failure.ts';
import { changeLines, linesOf } from './lines.ts';
import { type BodyActions, bodyActions, uncovered } from './media.ts';
import { FieldWork } from './perform.ts';
import { redactedPicks } from './redacted.ts';
import { type Done, type HeaderValue, runOnBody, runOnHeaders, runOnQuery } from './run.ts';

/** A request as templates left it. */
export type Composed = {
  /** Injected names and values in turn. */
  headers: string[] | null;
  /** With its query. */
  path: string;
  body: Buffer | null;
  contentType: string;
};
/** The same after field actions, with what of it a test may show. */
export type Changed = {
  headers: string[];
  path: string;
  pieces: readonly Buffer[] | null;
  shown: { headers: string[]; path: string; body: Buffer | null };
};

/** A body that fits into memory twice without anybody noticing, and stays repeatable. */
const JOINED = 1024 * 1024;

/** Whether the body that came is neither compressed nor of several types. */
export function isPlain({ contentEncoding, names }: RouteCall): boolean {
  if (contentEncoding !== '' && contentEncoding !== 'identity') return false;
  return names.filter((name) => name === 'content-type').length <= 1 && names.filter((name) => name === 'content-encoding').length <= 1;
}

/** What a call with field actions can't be: its frames and events are never looked into (interface rule 10 §8). */
export function fitsFields(call: RouteCall): Refused | undefined {
  const { upgrade } = call.req.headers;
  return upgrade !== undefined && /(?:^|,)\s*websocket\s*(?:,|$)/i.test(upgrade)
    ? refused('field_action_failed', "This route has field actions, which can't be applied to WebSocket connections.")
    : undefined;
}

/** What the field actions of a route say about a body that has yet to be read. */
export type Reading = 'whole' | 'lines' | 'unread' | Refused;

export function readingOf(call: RouteCall, side: FieldSide, whole: boolean): Reading {
  if (side.body.size === 0) return 'unread';
  if (side.protectsBody) call.keepsRequest = false;
  const plain = isPlain(call);
  const found = bodyActions(side, call.contentType, plain);
  if (found) return found.type === 'application/x-ndjson' && !whole && !call.state.bodyRead ? 'lines' : 'whole';
  return side.guard && call.contentLength !== 0
    ? refused('field_action_failed', uncovered(side.guard, call.contentType, plain, 'the request body'))
    : 'unread';
}

/** Keeps a body that was read for the log, but for what an action protects: nothing of one in which nobody can tell where that is. */
export function keepRequest(call: RouteCall, body: Buffer): undefined | Promise<undefined> {
  const { capture } = call;
  if (capture === null) return undefined;
  const side = call.state.config?.fields?.request;
  if (!side?.protectsBody) {
    capture.takeRequest(body);
    return undefined;
  }
  const found = bodyActions(side, call.contentType, isPlain(call));
  const keep = (kept: Buffer | null | undefined): undefined => {
    capture.rewritten = kept !== undefined && kept !== null;
    if (kept) capture.takeRequest(kept);
  };
  const kept = found && paced(redactedPicks(found, body), body.length);
  return kept instanceof Promise ? kept.then(keep) : keep(kept);
}

/** Runs the field actions of a request that was composed. Nothing has been sent when this refuses. */
export async function changeRequest(call: RouteCall, runtime: Runtime, side: FieldSide, composed: Composed): Promise<Changed | Refused> {
  const work = workOf(call, runtime, call.upstream?.host ?? '');
  try {
    const headers = await changeHeaders(call, work, side, composed.headers ?? []);
    const path = await changeQuery(call, work, side, composed.path);
    if (composed.body === null || composed.body.length === 0) {
      if (call.streamsBody && call.lineEdit === null) warnUncovered(call, work, side);
      return { headers: headers.now, path: path.now, pieces: null, shown: { headers: headers.shown, path: path.shown, body: null } };
    }
    const plain = isPlain(call);
    const found = bodyActions(side, composed.contentType, plain);
    if (!found) {
      if (side.guard) return refused('field_action_failed', uncovered(side.guard, composed.contentType, plain, 'the request body'));
      warnUncovered(call, work, side);
      return {
        headers: headers.now,
        path: path.now,
        pieces: null,
        shown: { headers: headers.shown, path: path.shown, body: composed.body },
      };
    }
    const actions = withoutReveals(call, work, found);
    const done = await runOnMessage(work, actions, found.type, composed.body);
    if (!runtime.bodies.hold(call, call.bufferedBytes + Math.max(0, done.bytes - composed.body.length)))
      return refused('concurrency_limit_exceeded', 'Too many request bodies are held in memory. Try again shortly.');
    const signed = done.signatures.flat();
    return {
      headers: [...without(headers.now, done.signatures), ...signed],
      path: path.now,
      pieces:
        (done.bytes <= JOINED || (call.state.config && signsBody(call.state.config))) && done.pieces.length > 1
          ? [Buffer.concat(done.pieces)]
          : done.pieces,
      shown: {
        headers: [...without(headers.shown, done.signatures), ...signed],
        path: path.shown,
        body: done.shown && Buffer.concat(done.shown),
      },
    };
  } catch (error) {
    if (!(error instanceof FieldActionFailed)) throw error;
    return refused(error.unavailable ?? 'field_action_failed', error.message, { cause: error.cause });
  }
}

/** A body of lines that is in memory already is changed line by line, too. */
async function runOnMessage(work: FieldWork, actions: readonly FieldAction[], type: BodyActions['type'], body: Buffer): Promise<Done> {
  if (type !== 'application/x-ndjson') return runOnBody(work, actions, type, body);
  const { pieces, shown } = await changeLines(work, actions, body);
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { pieces: [...pieces], bytes, changed: true, shown: shown && [...shown], signatures: [] };
}

/** Runs the actions of a streamed body on its lines, as they come. */
export function requestLines(call: RouteCall, runtime: Runtime, side: FieldSide): LineEdit {
  const work = workOf(call, runtime, call.upstream?.host ?? '');
  const found = bodyActions(side, call.contentType, isPlain(call)) as BodyActions;
  return linesOf(
    work,
    () => withoutReveals(call, work, found),
    (error) => refused(error.unavailable ?? 'field_action_failed', error.message),
  );
}

/** `host`: where revealed values go; null: to the caller. */
export const workOf = (call: RouteCall, runtime: Runtime, host: string | null): FieldWork =>
  new FieldWork({
    ctx: fieldContext(call),
    route: { id: call.state.route?.id ?? '', name: call.state.route?.name ?? '' },
    host,
    mayReach: (hosts) => hostAllowed(call, runtime, hosts),
    dry: call.test?.dry === true,
    onWarning: (warning) => {
      if (!call.warnings?.includes(warning)) call.warnings = [...(call.warnings ?? []), warning];
    },
    onRevealed: (at, text) => noteRevealed(call, at, text),
  });

/** An upstream may answer what it was sent: neither the log nor who tries a route may read it there. */
function noteRevealed(call: RouteCall, at: string, text: string): void {
  const { test } = call.state;
  const name = `field ${at}`;
  if (test) test.secrets = new Map([...test.secrets, [name, text]]);
  if (call.capture) call.capture.secrets = new Map([...call.capture.secrets, [name, text]]);
}

/** Our own echo upstream answers what it was sent: with it, a credential that may only call routes would read what vaults keep. */
function withoutReveals(call: RouteCall, work: FieldWork, { actions }: Pick<BodyActions, 'actions'>): readonly FieldAction[] {
  if (!call.echo || !actions.some(({ effect }) => effect === 'reveals')) return actions;
  const known = unrevealed.get(actions) ?? actions.filter(({ effect }) => effect !== 'reveals');
  unrevealed.set(actions, known);
  for (const action of actions) if (action.effect === 'reveals') work.warn(action, 'not_for_echo');
  return known;
}
const unrevealed = new WeakMap<readonly FieldAction[], readonly FieldAction[]>();

function warnUncovered(call: RouteCall, work: FieldWork, { body }: FieldSide): void {
  if (call.contentLength === 0) return;
  for (const actions of body.values()) for (const action of actions) if (action.effect !== 'reveals') work.warn(action, 'media_type');
}

/** The injected headers with those of the caller that actions pick, as they are now. */
async function changeHeaders(
  call: RouteCall,
  work: FieldWork,
  side: FieldSide,
  injected: string[],
): Promise<{ now: string[]; shown: string[] }> {
  if (side.headerNames.size === 0) return { now: injected, shown: injected };
  const picked: HeaderValue[] = [];
  const others: string[] = [];
  for (let i = 0; i < injected.length; i += 2) {
    const [name, value] = [injected[i] as string, injected[i + 1] as string];
    const lower = hyphenated(name.toLowerCase());
    if (side.headerNames.has(lower)) picked.push({ name, lower, value });
    else others.push(name, value);
  }
  const given = new Set(picked.map(({ lower }) => lower));
  const raw = call.req.rawHeaders;
  for (const [i, name] of call.names.entries()) {
    const lower = hyphenated(name);
    // What the route injects wins over the caller's; our own credentials are nobody's.
    if (!side.headerNames.has(lower) || given.has(lower) || isOurs(call, name)) continue;
    picked.push({ name: raw[i * 2] as string, lower, value: raw[i * 2 + 1] as string });
  }
  const actions = withoutReveals(call, work, { actions: side.headers });
  const values = await runOnHeaders(work, actions, picked);
  const list = (view: 'now' | 'shown') => [...others, ...picked.flatMap(({ name }, i) => [name, values[i]?.[view] ?? ''])];
  return { now: list('now'), shown: list('shown') };
}

const isOurs = (call: RouteCall, name: string): boolean =>
  (name === 'authorization' && call.stripAuthorization) ||
  (name === 'x-api-key' && call.stripApiKey) ||
  (name === 'dpop' && call.stripProof);

const without = (headers: readonly string[], signatures: readonly (readonly [string, string])[]): string[] => {
  if (signatures.length === 0) return [...headers];
  const names = new Set(signatures.map(([name]) => hyphenated(name.toLowerCase())));
  return headers.flatMap((text, i) => (i % 2 === 0 && !names.has(hyphenated(text.toLowerCase())) ? [text, headers[i + 1] as string] : []));
};

async function changeQuery(call: RouteCall, work: FieldWork, side: FieldSide, path: string): Promise<{ now: string; shown: string }> {
  const mark = path.indexOf('?');
  if (side.query.length === 0 || mark < 0) return { now: path, shown: path };
  const actions = withoutReveals(call, work, { actions: side.query });
  const done = await runOnQuery(work, actions, Buffer.from(path.slice(mark + 1), 'latin1'));
  const written = (pieces: readonly Buffer[]) => `${path.slice(0, mark)}?${Buffer.concat(pieces).toString('latin1')}`;
  return { now: written(done.pieces), shown: done.shown ? written(done.shown) : path.slice(0, mark) };
}

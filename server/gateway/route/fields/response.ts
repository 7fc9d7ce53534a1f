import { hyphenated } from '#server/platform/header-name.ts';
import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { AnswerEdit, AnswerPlan } from '../../core/answer-edit.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import { fieldOf, OF_THE_BODY } from '../../core/upstream-response.ts';
import type { FieldSide } from '../../snapshot/field-actions.ts';
import type { RouteCall } from '../route-call.ts';
import { FieldActionFailed } from './failure.ts';
import { linesOf } from './lines.ts';
import { type BodyActions, bodyActions, mediaType, uncovered } from './media.ts';
import type { FieldWork } from './perform.ts';
import { workOf } from './request.ts';
import { type HeaderValue, runOnBody, runOnHeaders } from './run.ts';

/** The field actions of a route's answers. */
export function answerEdit(call: RouteCall, runtime: Runtime, side: FieldSide): AnswerEdit {
  return (status, headers) => {
    const work = workOf(call, runtime, null);
    const head = async (drop: boolean) => {
      try {
        return await changedHead(call, work, side, drop ? headers.filter(keepsField(headers)) : headers);
      } catch (error) {
        return failed(error);
      }
    };
    const onlyHead: AnswerPlan | null = side.headers.length > 0 ? { body: null, head: () => head(false) } : null;
    if (side.body.size === 0) return onlyHead;
    const contentType = fieldOf(headers, 'content-type') ?? '';
    const plain = isPlain(headers, status);
    if (mediaType(contentType) === 'text/event-stream')
      return { refuse: actionFailed("This route has response actions, which can't be applied to an event stream.") };
    if (call.method === 'HEAD' || status === 204 || status === 304)
      return bodyActions(side, contentType, true) && call.method === 'HEAD' ? { body: null, head: () => head(true) } : onlyHead;
    const found = bodyActions(side, contentType, plain);
    if (!found) {
      // An error page of another type passes: what would be protected is in answers that are what they should be.
      if (side.guard && status >= 200 && status < 300 && !isEmpty(headers))
        return { refuse: actionFailed(uncovered(side.guard, contentType, plain, 'the response')) };
      for (const actions of side.body.values())
        for (const action of actions) if (action.effect !== 'reveals' && !isEmpty(headers)) work.warn(action, 'media_type');
      return onlyHead;
    }
    if (found.type === 'application/x-ndjson')
      return {
        head: () => head(true),
        body: testSafe(
          call,
          linesOf(
            work,
            () => found.actions,
            (error) => failed(error),
          ),
        ),
      };
    return { body: 'whole', whole: (body) => changeWhole(call, work, side, found, headers, body) };
  };
}

async function changeWhole(
  call: RouteCall,
  work: FieldWork,
  side: FieldSide,
  { type, actions }: BodyActions,
  headers: HeaderList,
  body: Buffer,
) {
  try {
    if (body.length === 0) return { headers: await changedHead(call, work, side, headers), pieces: [], shown: [] };
    const done = await runOnBody(work, actions, type, body);
    const kept = done.changed ? headers.filter(keepsField(headers)) : headers.filter(keepsField(headers, ['content-length']));
    const head = await changedHead(call, work, side, kept);
    const names = new Set(done.signatures.map(([name]) => hyphenated(name.toLowerCase())));
    const others = head.filter((_, i, all) => !names.has(hyphenated(all[i - (i % 2)] as string)));
    const pieces = call.test ? (done.shown ?? []) : done.pieces;
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return {
      headers: [...others, ...done.signatures.flatMap(([name, value]) => [name.toLowerCase(), value]), 'content-length', String(bytes)],
      pieces,
      shown: done.shown,
    };
  } catch (error) {
    return failed(error);
  }
}

/** A test is shown answers without what was revealed in them. */
const testSafe = (call: RouteCall, edit: ReturnType<typeof linesOf>): ReturnType<typeof linesOf> =>
  call.test
    ? async (lines) => {
        const edited = await edit(lines);
        return 'code' in edited ? edited : { ...edited, pieces: edited.shown ?? [] };
      }
    : edit;

async function changedHead(call: RouteCall, work: FieldWork, side: FieldSide, headers: HeaderList): Promise<HeaderList> {
  if (side.headers.length === 0) return headers;
  const picked: (HeaderValue & { at: number })[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const lower = hyphenated(headers[i] as string);
    if (side.headerNames.has(lower)) picked.push({ name: headers[i] as string, lower, value: headers[i + 1] as string, at: i + 1 });
  }
  const values = await runOnHeaders(work, side.headers, picked);
  const changed = [...headers];
  for (const [i, { at }] of picked.entries()) changed[at] = (call.test ? values[i]?.shown : values[i]?.now) ?? '';
  return changed;
}

/** Whether the name or value at an index belongs to a field that stays. */
const keepsField =
  (headers: HeaderList, dropped: readonly string[] = [...OF_THE_BODY]) =>
  (_: string, i: number): boolean =>
    !dropped.includes(headers[i - (i % 2)] as string);

/** Neither compressed, nor of several types, nor a part of something: values can't be found in a slice of a body. */
function isPlain(headers: HeaderList, status: number): boolean {
  const encoding = (fieldOf(headers, 'content-encoding') ?? '').trim().toLowerCase();
  const types = headers.filter((name, i) => i % 2 === 0 && name === 'content-type').length;
  return (encoding === '' || encoding === 'identity') && types <= 1 && status !== 206 && fieldOf(headers, 'content-range') === undefined;
}

const isEmpty = (headers: HeaderList): boolean => fieldOf(headers, 'content-length') === '0';

const actionFailed = (message: string): Refused => refused('response_action_failed', message);

function failed(error: unknown): Refused {
  if (!(error instanceof FieldActionFailed)) throw error;
  return refused('response_action_failed', error.message, { cause: error.cause });
}

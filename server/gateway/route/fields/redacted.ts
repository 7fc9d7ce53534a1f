import { isUtf8 } from 'node:buffer';
import { redactedMark } from '#server/kernel/credential-patterns.ts';
import { atOnce, type Steps } from '#server/kernel/slices.ts';
import type { FieldAction } from '../../snapshot/field-actions.ts';
import { pickForm } from './form-picks.ts';
import { pickJson } from './json-picks.ts';
import type { BodyActions } from './media.ts';
import { type Pick, type Picker, spliced, Unwalkable } from './picks.ts';

/** A body as a log may keep it: with a mark in place of every value that an action protects. Null when nobody can tell where those are. */
export function* redactedPicks({ type, actions }: BodyActions, body: Buffer): Steps<Buffer | null> {
  const pickers: Picker[] = actions
    .filter(({ effect }) => effect === 'protects')
    .map(({ selectors, whole }) => ({ root: selectors.root, whole }));
  if (type === 'application/x-ndjson') return null; // its lines are kept as they are sent on
  try {
    const isForm = type === 'application/x-www-form-urlencoded';
    if (!isForm && !isUtf8(body)) return null;
    const picks: Pick[] = [];
    for (let at = 0; at < pickers.length; at += MOST_AT_ONCE) {
      const some = pickers.slice(at, at + MOST_AT_ONCE);
      picks.push(...(isForm ? yield* pickForm(body, some) : (yield* pickJson(body, some)).picks));
    }
    const mark = isForm ? encodeURIComponent(redactedMark) : JSON.stringify(redactedMark);
    for (const pick of picks) pick.shown = mark;
    picks.sort((a, b) => a.from - b.from || b.to - a.to);
    return Buffer.concat(spliced(body, picks, 'shown'));
  } catch (error) {
    if (error instanceof Unwalkable) return null;
    throw error;
  }
}
const MOST_AT_ONCE = 30;

/** A query as a log may keep it: without the values that actions protect. */
export function redactedQuery(all: readonly FieldAction[], query: string): string {
  const actions = all.filter(({ effect }) => effect === 'protects');
  if (actions.length === 0) return query;
  const bytes = Buffer.from(query, 'latin1');
  try {
    const pickers = actions.map(({ selectors }) => ({ root: selectors.root, whole: false }));
    const picks = atOnce(pickForm(bytes, pickers));
    for (const pick of picks) pick.shown = redactedMark;
    return Buffer.concat(spliced(bytes, picks, 'shown')).toString('latin1');
  } catch (error) {
    if (error instanceof Unwalkable) return redactedMark;
    throw error;
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { Remote } from './remote.ts';

/** Field actions of a route: a list whose order is that of their running. */
const FIELDS = [
  'direction',
  'action',
  'location',
  'selectors',
  'key_name',
  'data_role',
  'content_type',
  'mode',
  'mask',
  'signature_header',
  'signature_member',
  'enabled',
] as const;
type Action = Record<string, unknown>;
type Stored = Action & { id: string; sort_order: number; created_at: string };

/** What a file says, in its order. What it leaves out is the service's to choose: an action that has all that is said is taken as it is. */
export function wholeActions(given: unknown, current: unknown): Action[] {
  const present = (current ?? []) as Action[];
  return ((given ?? []) as Action[]).map((one, at) => {
    const said = Object.fromEntries(Object.entries({ location: 'body', enabled: true, ...one }).filter(([, value]) => value !== null));
    return present[at] && covers(present[at], said) ? present[at] : said;
  });
}

const covers = (whole: Action, part: Action): boolean =>
  Object.entries(part).every(([name, value]) => isDeepStrictEqual(whole[name], value));

const storedActions = async (id: string, remote: Remote): Promise<Stored[]> =>
  [...(await remote.send<Stored[]>('GET', '/routes/{id}/actions', { path: { id } }))].sort(
    (a, b) => a.sort_order - b.sort_order || (a.created_at < b.created_at ? -1 : 1),
  );

export const actionsOf = async (id: string, remote: Remote): Promise<Action[]> => (await storedActions(id, remote)).map(shown);

const shown = (stored: Stored): Action =>
  Object.fromEntries(
    FIELDS.filter((field) => stored[field] !== null && stored[field] !== undefined).map((field) => [field, stored[field]]),
  );

/** Makes the missing, ends the others, and puts them in order. */
export async function writeActions(id: string, wanted: unknown, remote: Remote): Promise<void> {
  const stored = await storedActions(id, remote);
  const left = [...stored];
  const desired = wanted as Action[];
  const matched = desired.map((action) => {
    const at = left.findIndex((one) => covers(one, action));
    return at >= 0 ? left.splice(at, 1)[0] : undefined;
  });
  // The old ones first: two that change the same value would be refused.
  for (const { id: actionId } of left) await remote.send('DELETE', '/routes/{id}/actions/{actionId}', { path: { id, actionId } });
  for (const [at, action] of desired.entries()) {
    const existing = matched[at];
    if (!existing) await remote.send('POST', '/routes/{id}/actions', { path: { id }, body: { ...action, sort_order: at } });
    else if (existing.sort_order !== at)
      await remote.send('PATCH', '/routes/{id}/actions/{actionId}', { path: { id, actionId: existing.id }, body: { sort_order: at } });
  }
}

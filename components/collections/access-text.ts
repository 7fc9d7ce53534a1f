import type { inferRouterOutputs } from '@trpc/server';
import { capitalize } from '#components/ui/capitalize.ts';
import { grouped } from '#components/ui/numbers.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export type Access = inferRouterOutputs<AppRouter>['collections']['access'];
export type Entrance = Access['routes'][number]['entrances'][number];
type Person = Access['people'][number];
type Key = Access['keys'][number];

/** Who gets in at one environment of a route, in a sentence; `nobody` for the ones that stand shut. The clients themselves are named beside it. */
export function describeAccess(entrance: Entrance, keyAlwaysNeeded: boolean): { nobody: boolean; text: string } {
  const { off, requires_clients, client_count, client_count_able, methods, addresses } = entrance;
  if (off === 'route') return { nobody: true, text: 'No one: the route is disabled.' };
  if (off === 'environment') return { nobody: true, text: `No one: the route is disabled in ${entrance.environment}.` };
  if (methods?.length === 0) return { nobody: true, text: 'No one: no methods are allowed.' };
  if (requires_clients && client_count === 0)
    return { nobody: true, text: 'No one: only assigned clients can call, and none are assigned.' };
  if (requires_clients && client_count_able === 0)
    return { nobody: true, text: 'No one: the assigned clients are disabled or have no usable IP address.' };
  const who = requires_clients
    ? `Only ${client_count_able === 1 ? 'one assigned client' : `${grouped(client_count_able)} assigned clients`}, ${keyAlwaysNeeded ? 'with a key that can call routes' : 'with or without a key'}`
    : 'Any key that can call routes';
  const from = addresses.length > 0 ? `, from ${addresses.length === 1 ? addresses[0] : `${addresses.length} allowed IP addresses`}` : '';
  const how = methods ? `, using ${inWords(methods)}` : '';
  return { nobody: false, text: `${who}${from}${how}.` };
}

/** What people of a role can do here. */
export function roleMay({ sees, changes, tests, sets_values }: Person): string {
  if (sees === 'names') return 'View names and logs.';
  const acts = [
    'view everything except secret values',
    changes && 'change routes, clients and variables',
    sets_values && 'set secret values',
    tests && 'send test calls',
  ].filter((act) => act !== false);
  const text = acts.length === 1 ? `${acts[0]}; no changes` : inWords(acts);
  return `${capitalize(text)}.`;
}

/** What a key can do here. */
export function keyMay({ calls, changes }: Key): string {
  if (calls && changes) return 'Can call and change routes';
  if (calls) return 'Can call routes';
  return changes ? 'Can change routes, but not call them' : 'Can’t call or change routes';
}

const inWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;

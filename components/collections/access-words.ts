import type { inferRouterOutputs } from '@trpc/server';
import { capital } from '#components/ui/capital.ts';
import { grouped } from '#components/ui/numbers.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export type Access = inferRouterOutputs<AppRouter>['collections']['access'];
export type Entrance = Access['routes'][number]['entrances'][number];
type Person = Access['people'][number];
type Key = Access['keys'][number];

/** Who gets in at one environment of a route, in a sentence; `nobody` for the ones that stand shut. The clients themselves are named beside it. */
export function whoGetsIn(entrance: Entrance, keyAlwaysNeeded: boolean): { nobody: boolean; text: string } {
  const { off, requires_clients, client_count, client_count_able, methods, addresses } = entrance;
  if (off === 'route') return { nobody: true, text: 'Nobody: the route is switched off.' };
  if (off === 'environment') return { nobody: true, text: `Nobody: the route is paused in ${entrance.environment}.` };
  if (methods?.length === 0) return { nobody: true, text: 'Nobody: no method is allowed.' };
  if (requires_clients && client_count === 0)
    return { nobody: true, text: 'Nobody: only assigned clients may call, and none is assigned.' };
  if (requires_clients && client_count_able === 0)
    return { nobody: true, text: 'Nobody: the clients assigned are switched off or have no address that counts.' };
  const who = requires_clients
    ? `Only ${client_count_able === 1 ? 'one assigned client' : `${grouped(client_count_able)} assigned clients`}, ${keyAlwaysNeeded ? 'with a key that may call' : 'with a key that may call, or with no key at all'}`
    : 'Any key that may call';
  const from = addresses.length > 0 ? `, from ${addresses.length === 1 ? addresses[0] : `${addresses.length} listed addresses`}` : '';
  const how = methods ? `, by ${inWords(methods)}` : '';
  return { nobody: false, text: `${who}${from}${how}.` };
}

/** What people of a role can do here. */
export function roleMay({ sees, changes, tests, sets_values }: Person): string {
  if (sees === 'names') return 'See what things are called, and the calls in the log.';
  const acts = [
    'see everything but values',
    changes && 'change routes, clients and variables',
    sets_values && 'set values of secrets',
    tests && 'send test calls',
  ].filter((act) => act !== false);
  const text = acts.length === 1 ? `${acts[0]}, and change nothing` : inWords(acts);
  return `${capital(text)}.`;
}

/** What a key can do here. */
export function keyMay({ calls, changes }: Key): string {
  if (calls && changes) return 'Calls routes and changes them';
  if (calls) return 'Calls routes';
  return changes ? 'Changes routes, calls none' : 'Calls and changes nothing here';
}

const inWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;

import type { inferRouterOutputs } from '@trpc/server';
import { grouped } from '#components/ui/numbers.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['opportunities'];
export type OpportunityRow = Outputs['list']['data'][number];
export type HostRow = Outputs['observed']['data'][number];
export type Evidence = NonNullable<OpportunityRow['evidence_json']>;

/** How the credential reaches the host today, the most exposed way first. */
export function travelOf({ credential_modes: { transit, escrow, direct_header } }: Evidence): string {
  const ways = [
    direct_header.length > 0 && `In the calling process, as ${direct_header.slice(0, 2).join(', ')}`,
    transit > 0 && 'Sent by the caller with each call',
    escrow > 0 && 'Held in escrow here',
  ].filter((way) => way !== false);
  return ways.length > 0 ? ways.join('; ') : 'No credential seen';
}

/** The most frequent first: `POST 340, GET 12`. */
export const methodsOf = ({ methods }: Evidence): string =>
  Object.entries(methods)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 4)
    .map(([method, calls]) => `${method} ${grouped(calls)}`)
    .join(', ');

import type { inferRouterOutputs } from '@trpc/server';
import type { State } from '#components/ui/badge.tsx';
import { type ItemStatus, isLive, type MigrationStatus } from '#server/domain/migrations/register.shared.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['migrations'];
export type MigrationRow = Outputs['list']['migrations'][number];
export type Detail = Outputs['get'];
export type ItemRow = Outputs['items']['items'][number];

export const STATUS: Readonly<Record<MigrationStatus, { label: string; state: State }>> = {
  pending: { label: 'Waiting to start', state: 'pending' },
  discovering: { label: 'Reading the store', state: 'live' },
  awaiting_review: { label: 'Awaits review', state: 'warning' },
  completed: { label: 'Completed', state: 'ok' },
  failed: { label: 'Failed', state: 'failing' },
  cancelled: { label: 'Canceled', state: 'off' },
};

export const ITEM_STATUS: Readonly<Record<ItemStatus, { label: string; state: State }>> = {
  pending_review: { label: 'To review', state: 'pending' },
  approved: { label: 'Approved', state: 'ok' },
  rejected: { label: 'Rejected', state: 'blocked' },
  committed: { label: 'Committed', state: 'ok' },
  expired: { label: 'Expired', state: 'expired' },
  denylisted: { label: 'Denied', state: 'blocked' },
};

/** How often a page asks again: every two seconds while a worker reads. */
export const pollOf = (statuses: readonly string[]): number | false =>
  statuses.some((status) => status === 'pending' || status === 'discovering') ? 2_000 : false;

export const canCancel = ({ status }: Pick<MigrationRow, 'status'>): boolean => isLive(status) || status === 'failed';

/** How many items are decided, and how many there are to decide. */
export function progressOf(row: MigrationRow): { done: number; of: number } {
  const of = row.discovered_count - row.denylisted_count;
  return { done: row.approved_count + row.rejected_count + row.committed_count + row.expired_count, of };
}

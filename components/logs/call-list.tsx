'use client';

import { Ban } from 'lucide-react';
import type { ReactNode } from 'react';
import { Badge, HttpStatus, Method } from '#components/ui/badge.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { cn } from '#components/ui/cn.ts';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { millis } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { VirtualList } from '#components/ui/virtual-list.tsx';
import { addressIn } from '#server/domain/tenants/country.shared.ts';
import { isTestCall, type Log, refusedByUs } from './call-kind.ts';
import type { Marks } from './inspector-actions.tsx';
import { reasonOf } from './refusal-reasons.ts';

export type CallListProps = {
  rows: readonly Log[] | undefined;
  openId?: string | undefined;
  onOpen: (log: Log) => void;
  onEndReached?: () => void;
  onRead?: (reading: boolean) => void;
  notice?: ReactNode;
  marks?: Marks | undefined;
  footer?: ReactNode;
  className?: string;
};

const ROW = 36;
/** By the room the list has, which beside the facets is less than the window's. */
const grid =
  'grid w-full min-w-0 items-center gap-x-3 grid-cols-[3rem_minmax(0,1fr)_4rem] @lg:grid-cols-[6.5rem_3rem_minmax(0,1fr)_4.5rem] @3xl:grid-cols-[6.5rem_3rem_minmax(0,8rem)_minmax(0,1fr)_minmax(0,14.5rem)_4.5rem] @5xl:grid-cols-[6.5rem_3rem_minmax(0,10rem)_minmax(0,1fr)_minmax(0,14.5rem)_minmax(0,10rem)_4.5rem]';

/** Calls, newest first, ten thousand of them if need be. j and k move, Enter opens. */
export function CallList({ rows, openId, onOpen, onEndReached, onRead, notice, marks, footer, className }: CallListProps) {
  if (!rows) return <Skeleton lines={10} label="Loading calls" />;
  return (
    <VirtualList
      items={rows}
      itemKey={(log) => log.request_id}
      rowHeight={ROW}
      label="Calls"
      onOpen={onOpen}
      openKey={openId}
      {...(onEndReached ? { onEndReached } : {})}
      {...(onRead ? { onRead } : {})}
      {...(marks
        ? {
            marks: {
              has: (log: Log) => marks.ids.includes(log.request_id),
              toggle: (log: Log) => marks.toggle(log.request_id),
              label: (log: Log) => `Select ${log.method ?? 'call'} ${log.path ?? ''} to compare`,
            },
          }
        : {})}
      notice={notice}
      header={
        <span aria-hidden className={grid}>
          <span className="@max-lg:hidden">Time</span>
          <span>Status</span>
          <span className="@max-3xl:hidden">Route</span>
          <span>Call</span>
          <span className="@max-3xl:hidden">Refusal reason</span>
          <span className="@max-5xl:hidden">Caller</span>
          <span className="text-right">Duration</span>
        </span>
      }
      footer={footer}
      className={cn('@container h-[max(22rem,calc(100dvh-29rem))]', className)}
    >
      {(log) => <Row log={log} />}
    </VirtualList>
  );
}

function Row({ log }: { log: Log }) {
  const environmentName = useEnvironmentLabel();
  const reason = log.error && capitalize(reasonOf(log.error));
  return (
    <span className={grid}>
      <Time value={log.ts} format="time" className="text-ink-2 text-xs @max-lg:hidden" />
      <HttpStatus status={log.status_code} className="w-fit" />
      <span className="truncate text-ink-2 @max-3xl:hidden">{log.route_name ?? '—'}</span>
      <span className="flex min-w-0 items-center gap-2">
        <Method method={log.method ?? '—'} className="min-w-10 shrink-0" />
        <span className="truncate font-mono text-xs">{log.path ?? '/'}</span>
        {log.environment && <span className="shrink-0 text-ink-3 text-xs @max-5xl:hidden">{environmentName(log.environment)}</span>}
        {isTestCall(log) && <Badge tone="accent">Test tab</Badge>}
        {log.client_origin === 'sdk_intercept' && <Badge>SDK</Badge>}
      </span>
      <span className="flex min-w-0 items-center gap-1.5 @max-3xl:hidden">
        {reason && (
          <>
            <Ban aria-hidden className={cn('size-3.5 shrink-0', refusedByUs(log) ? 'text-note-ink' : 'text-bad-ink')} />
            <span className="truncate text-ink-2 text-xs" title={reason}>
              {reason}
            </span>
          </>
        )}
      </span>
      <span className="truncate text-ink-2 text-xs @max-5xl:hidden">
        {log.client_name ?? addressIn(log.src_ip, log.source_ip_country) ?? '—'}
      </span>
      <span className="figures text-right text-xs">{millis(log.latency_ms)}</span>
    </span>
  );
}

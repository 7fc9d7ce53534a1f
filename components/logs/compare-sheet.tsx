'use client';

import { useQueries } from '@tanstack/react-query';
import { Equal, EqualNot } from 'lucide-react';
import { useState } from 'react';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { HttpStatus, Method } from '#components/ui/badge.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { cn } from '#components/ui/cn.ts';
import { CopyButton } from '#components/ui/copy.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { type Comparison, compareCalls, differencesIn, type Pair } from './compare.ts';
import type { Detail } from './trace.ts';

type Props = { requestIds: readonly string[]; onClose: () => void };

/** Two calls side by side; the address names both, so the comparison can be shared. */
export function CompareSheet({ requestIds, onClose }: Props) {
  const open = requestIds.length === 2;
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => !next && onClose()}
      size="lg"
      title="Compare calls"
      actions={open && <CopyButton label="link to this comparison" value={typeof window === 'undefined' ? '' : window.location.href} />}
    >
      {open && <Compared requestIds={requestIds} />}
    </Sheet>
  );
}

function Compared({ requestIds }: { requestIds: readonly string[] }) {
  const trpc = useTRPC();
  const [only, setOnly] = useState(true);
  const [first, second] = useQueries({
    queries: requestIds.map((request_id) => ({
      ...trpc.requestLogs.inspect.queryOptions({ request_id }),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  if (first?.isError) return <QueryError query={first} what="The first call" />;
  if (second?.isError) return <QueryError query={second} what="The second call" />;
  if (!first?.data || !second?.data) return <Skeleton lines={12} label="Loading both calls" />;
  const comparison = compareCalls(first.data, second.data);
  const count = differencesIn(comparison);
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p className="font-medium">{count === 0 ? 'No differences in the logged data.' : `${counted(count, 'difference')}.`}</p>
        {count > 0 && <Switch checked={only} onCheckedChange={setOnly} label="Show only differences" />}
      </div>
      <Table comparison={comparison} only={only && count > 0} a={first.data} b={second.data} />
      <p className="text-ink-3 text-xs">
        Headers are compared by name, because values, bodies and secrets are never stored. Durations count as different if they differ by
        more than 20% and 2 ms.
      </p>
    </>
  );
}

function Table({ comparison, only, a, b }: { comparison: Comparison; only: boolean; a: Detail; b: Detail }) {
  const groups = comparison
    .map(({ title, pairs }) => ({ title, pairs: only ? pairs.filter((pair) => pair.differs) : pairs }))
    .filter(({ pairs }) => pairs.length > 0);
  return (
    <table className="w-full table-fixed border-collapse text-left">
      <caption className="sr-only">Both calls, with differences marked</caption>
      <colgroup>
        <col className="w-[30%] sm:w-44" />
        <col />
        <col />
      </colgroup>
      <thead>
        <tr className="align-top">
          <td className="pb-3" />
          <Head detail={a} name="First" />
          <Head detail={b} name="Second" />
        </tr>
      </thead>
      {groups.map(({ title, pairs }) => (
        <tbody key={title}>
          <tr>
            <th scope="rowgroup" colSpan={3} className="pt-4 pb-1 font-semibold">
              {title}
            </th>
          </tr>
          {pairs.map((pair) => (
            <Row key={pair.label} pair={pair} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

function Head({ detail: { log }, name }: { detail: Detail; name: string }) {
  const path = usePath();
  return (
    <th scope="col" className="pr-3 pb-3 font-normal">
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-semibold">{name}</span>
        <HttpStatus status={log.status_code} />
        <Time value={log.ts} format="time" className="figures text-ink-3 text-xs" />
      </span>
      <Link href={path(`/logs?peek=${log.request_id}`)} className={cn(textLink, 'mt-1 block [overflow-wrap:anywhere]')}>
        <Method method={log.method ?? '—'} className="mr-1 min-w-0" />
        <span className="font-mono text-xs">{log.path ?? '/'}</span>
      </Link>
    </th>
  );
}

/** A difference is told by a sign and a word, and only then by colour. */
function Row({ pair: { label, a, b, differs, by } }: { pair: Pair }) {
  const Icon = differs ? EqualNot : Equal;
  const cell = 'py-1.5 pr-3 align-top text-xs [overflow-wrap:anywhere]';
  return (
    <tr className={cn('border-line border-t', differs && 'bg-warn-soft')}>
      <th scope="row" className={cn(cell, 'pl-2 font-normal text-ink-2')}>
        <span className="flex items-start gap-1.5">
          <Icon aria-hidden className={cn('mt-0.5 size-3.5 shrink-0', differs ? 'text-warn-ink' : 'text-ink-3')} />
          <span className="min-w-0">
            {label}
            <span className="sr-only">{differs ? ', differs' : ', same'}</span>
          </span>
        </span>
      </th>
      <td className={cn(cell, differs && 'font-medium')}>{a ?? <span className="text-ink-3">—</span>}</td>
      <td className={cn(cell, differs && 'font-medium')}>
        {b ?? <span className="text-ink-3">—</span>}
        {by && <span className="figures ml-1.5 whitespace-nowrap text-ink-2">({by})</span>}
      </td>
    </tr>
  );
}

'use client';

import type { RecordedCall } from '#components/trpc/recorder.ts';
import { Badge } from '#components/ui/badge.tsx';
import { cn } from '#components/ui/cn.ts';
import type { DescribedCall } from './describe-call.ts';

export type CallLineProps = { call: RecordedCall; line: DescribedCall | undefined; open: boolean; onOpen: () => void };

/** One call: status, method, path, how long it took. */
export function CallLine({ call, line, open, onOpen }: CallLineProps) {
  const status = line?.status ?? call.status;
  return (
    <button
      type="button"
      aria-expanded={open}
      onClick={onOpen}
      className={cn(
        'flex h-8 w-full min-w-0 items-center gap-2 px-3 text-left text-xs focus-visible:-outline-offset-2 max-md:h-10 lg:px-5',
        open ? 'bg-pressed/70' : 'hoverable:bg-subtle',
      )}
    >
      <Badge tone={call.error ? ((status ?? 500) < 500 ? 'warn' : 'bad') : 'good'}>{status ?? '…'}</Badge>
      <span className="min-w-0 flex-1 truncate font-mono">
        {line ? `${line.method} ${line.path}${line.query ? `?${line.query}` : ''}` : nameOf(call)}
      </span>
      {line && !line.public && <Badge className="max-sm:hidden">Dashboard only</Badge>}
      <span className="figures shrink-0 text-ink-3">{call.ms} ms</span>
    </button>
  );
}

const nameOf = ({ what }: RecordedCall) => ('procedure' in what ? what.procedure : `${what.method} ${what.path}`);

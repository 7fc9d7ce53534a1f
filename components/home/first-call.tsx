'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Tail } from '#components/logs/use-tail.ts';
import { callSnippets } from '#components/routes/call-snippets.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Status } from '#components/ui/badge.tsx';
import { cn } from '#components/ui/cn.ts';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { notify } from '#components/ui/toaster.tsx';
import { Arrival } from './arrival.tsx';
import { Checklist } from './checklist.tsx';
import { StarterKey } from './starter-key.tsx';
import { UpstreamCard } from './upstream-card.tsx';
import { useArrivals } from './use-arrivals.ts';

/** What the page says in each space: Live has no demonstration, only the routes and keys made for it. */
const WORDS = {
  test: {
    title: 'Make your first call',
    before: 'Run this in a terminal. On its way to a demonstration upstream the gateway adds a credential that your terminal never sees.',
    arrived: 'That was your first call',
    after: 'It went through the gateway, got a credential it never saw, and came back. Next: your own API.',
    key: 'YOUR_TEST_KEY',
  },
  live: {
    title: 'Make the first live call',
    before: 'Run this in a terminal, with a live key in it. The route sends it to its upstream and adds the live credential on the way.',
    arrived: 'Live has its first call',
    after: 'It went through the gateway to the route’s upstream and came back. From now on this page shows how Live is doing.',
    key: 'YOUR_LIVE_KEY',
  },
} as const;

/** Home of a space that was never called: one call, ready to paste, and the place where it arrives. */
export function FirstCall({ goLive }: { goLive: ReactNode }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { proxy_url, space } = useScope();
  const words = WORDS[space];
  const [apiKey, setApiKey] = useState<string>();
  const routes = useQuery(trpc.routes.list.queryOptions({ sort: 'created_at', order: 'asc', per_page: 5, enabled: true }));
  const live = useArrivals(() => void cache.invalidateQueries(trpc.requestLogs.pathFilter()));
  const call = live.rows[0];
  const starter = routes.data?.data.find((route) => route.slug === 'echo') ?? routes.data?.data[0];
  // Only the demonstration is known to answer a path of its own.
  const url = `${proxy_url}/${starter?.slug ?? starter?.id ?? 'echo'}/${space === 'test' ? 'hello' : ''}`;

  const receive = async (key: string, asked: boolean) => {
    setApiKey(key);
    // Nobody's clipboard is written to without a press.
    if (!asked) return;
    const text = callSnippets({ url, headers: { 'X-Svc-Key': key } })[0].code;
    // Most browsers allow it right after the press; where not, the copy button is beside the call.
    await navigator.clipboard.writeText(text).then(
      () => notify('The call is on your clipboard, key included. Paste it into a terminal.'),
      () => undefined,
    );
  };
  return (
    <Page>
      <PageHeader title={call ? words.arrived : words.title} description={call ? words.after : words.before} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <CodeBlock snippets={firstThree(url, apiKey ?? words.key)} />
          <StarterKey apiKey={apiKey} onKey={(key, asked) => void receive(key, asked)} />
          <LiveRow live={live.state} call={call} more={live.rows.length - 1} />
        </div>
        <Checklist />
      </div>
      {space === 'test' && (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
          <UpstreamCard apiKey={apiKey} />
          {goLive}
        </div>
      )}
    </Page>
  );
}

function firstThree(url: string, key: string) {
  const [curl, node, python] = callSnippets({ url, headers: { 'X-Svc-Key': key } });
  return node && python ? ([curl, node, python] as const) : ([curl] as const);
}

/** Where the call lands. It stands there waiting, so that nobody has to look for it. */
function LiveRow({ live, call, more }: { live: Tail['state']; call: Tail['rows'][number] | undefined; more: number }) {
  return (
    <SectionCard
      title={call ? 'Your call' : undefined}
      actions={call ? <Status state="live">{more > 0 ? `live, ${more.toString()} more` : 'live'}</Status> : undefined}
      className={call ? 'border-good-line' : undefined}
    >
      <p role="status" className={call ? 'sr-only' : 'flex items-center gap-3 text-ink-2'}>
        {!call && (
          <span aria-hidden className="relative flex size-2.5">
            {live === 'open' && <span className="absolute inset-0 animate-ping rounded-full bg-accent opacity-60 motion-reduce:hidden" />}
            <span className={cn('keep-fill size-2.5 rounded-full', live === 'open' ? 'bg-accent' : 'bg-warn')} />
          </span>
        )}
        {call
          ? 'Your call has arrived.'
          : live === 'open'
            ? 'Waiting for your call. It appears here the moment it arrives.'
            : 'Connecting to the live log. No call is missed meanwhile.'}
      </p>
      {call && <Arrival key={call.request_id} requestId={call.request_id} />}
    </SectionCard>
  );
}

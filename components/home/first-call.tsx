'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { outcomeOf } from '#components/logs/call-kind.ts';
import { summaryOf } from '#components/logs/call-summary.ts';
import type { Tail } from '#components/logs/use-tail.ts';
import { callSnippets } from '#components/routes/call-snippets.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Status } from '#components/ui/badge.tsx';
import { cn } from '#components/ui/cn.ts';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { notify } from '#components/ui/toaster.tsx';
import { awaitedCall } from './awaited-call.ts';
import { Checklist } from './checklist.tsx';
import { FirstCallResult } from './first-call-result.tsx';
import { StarterKey } from './starter-key.tsx';
import { UpstreamCard } from './upstream-card.tsx';
import { useNewCalls } from './use-new-calls.ts';

const WORDS = {
  test: {
    title: 'Make your first call',
    before: 'Run this in a terminal. The gateway adds a credential your terminal never sees and forwards the call to a demo upstream.',
    succeeded: 'Your first call succeeded',
    after: 'The gateway added a credential your terminal never saw. Next, connect your own API.',
    key: 'YOUR_TEST_KEY',
  },
  live: {
    title: 'Make your first live call',
    before: 'Run this in a terminal with a live key. The route adds the live credential and forwards the call to its upstream.',
    succeeded: 'Your first live call succeeded',
    after: 'Next time you open this page, it shows how Live is doing.',
    key: 'YOUR_LIVE_KEY',
  },
} as const;

/** How often the list is read while the page waits: it has what the live stream missed. */
const POLL_MS = 2_000;

/** Home of a space without a successful call: one command to paste, and the place where its call arrives. */
export function FirstCall({ goLive }: { goLive: ReactNode }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { proxy_url, space } = useScope();
  const words = WORDS[space];
  const [apiKey, setApiKey] = useState<string>();
  const routes = useQuery(trpc.routes.list.queryOptions({ sort: 'created_at', order: 'asc', per_page: 5, enabled: true }));
  const live = useNewCalls(() => void cache.invalidateQueries(trpc.requestLogs.pathFilter()));
  const listed = useQuery({
    ...trpc.requestLogs.browse.queryOptions({ per_page: 8 }),
    refetchInterval: ({ state }) => (awaitedCall(live.rows, state.data?.logs ?? [])?.succeeded ? false : POLL_MS),
  });
  const arrived = awaitedCall(live.rows, listed.data?.logs ?? []);
  const starter = routes.data?.data.find((route) => route.slug === 'echo') ?? routes.data?.data[0];
  // Only the demo upstream is known to answer a path of its own.
  const url = `${proxy_url}/${starter?.slug ?? starter?.id ?? 'echo'}/${space === 'test' ? 'hello' : ''}`;

  const receive = async (key: string, asked: boolean) => {
    setApiKey(key);
    // The clipboard is only written after a click.
    if (!asked) return;
    const text = callSnippets({ url, headers: { 'X-Svc-Key': key } })[0].code;
    // Most browsers allow it right after the press; where not, the copy button is beside the call.
    await navigator.clipboard.writeText(text).then(
      () => notify('Command copied with your key. Paste it into a terminal.'),
      () => undefined,
    );
  };
  return (
    <Page>
      <PageHeader {...headOf(arrived, words)} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <CodeBlock
            snippets={firstThree(url, apiKey ?? words.key)}
            copyDisabledReason={apiKey ? undefined : 'Add a key to the command first.'}
          />
          <StarterKey apiKey={apiKey} onKey={(key, asked) => void receive(key, asked)} />
          <ArrivedCall live={live.state} arrived={arrived} />
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

type Arrived = ReturnType<typeof awaitedCall>;

function headOf(arrived: Arrived, words: (typeof WORDS)[keyof typeof WORDS]): { title: string; description: string } {
  if (!arrived) return { title: words.title, description: words.before };
  if (arrived.succeeded) return { title: words.succeeded, description: words.after };
  const { call } = arrived;
  const title = outcomeOf(call) === 'refused' ? 'The gateway refused your call' : 'Your call failed';
  return { title, description: `${summaryOf(call)} Fix the problem and run the command again.` };
}

/** The call once it arrives; until then, that the page is waiting for it. */
function ArrivedCall({ live, arrived }: { live: Tail['state']; arrived: Arrived }) {
  const more = arrived?.more ?? 0;
  return (
    <SectionCard
      title={arrived && 'Your call'}
      actions={arrived && <Status state="live">{more > 0 ? `live, ${more.toString()} more` : 'live'}</Status>}
      className={arrived && (arrived.succeeded ? 'border-good-line' : 'border-bad-line')}
    >
      <p role="status" className={arrived ? 'sr-only' : 'flex items-center gap-3 text-ink-2'}>
        {!arrived && (
          <span aria-hidden className="relative flex size-2.5">
            {live === 'open' && <span className="absolute inset-0 animate-ping rounded-full bg-accent opacity-60 motion-reduce:hidden" />}
            <span className={cn('keep-fill size-2.5 rounded-full', live === 'open' ? 'bg-accent' : 'bg-warn')} />
          </span>
        )}
        {arrived
          ? arrived.succeeded
            ? 'Your call succeeded.'
            : 'Your call did not succeed.'
          : live === 'open'
            ? 'Waiting for your call. It appears here as soon as it arrives.'
            : 'Connecting. You can make your call now; it will appear here.'}
      </p>
      {arrived && <FirstCallResult key={arrived.call.request_id} requestId={arrived.call.request_id} />}
    </SectionCard>
  );
}

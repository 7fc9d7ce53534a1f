'use client';

import { useQuery } from '@tanstack/react-query';
import { ScrollText } from 'lucide-react';
import { daysKept } from '#components/settings/words.ts';
import { curlOf } from '#components/shell/curl.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/states.tsx';

/** Said at the end of the list: how far back it could reach. */
export function EndNote() {
  const trpc = useTRPC();
  const usage = useQuery({ ...trpc.account.usage.queryOptions({}), staleTime: 300_000 });
  if (!usage.data) return <span>That is all in this span.</span>;
  const { log_retention_days, plan } = usage.data;
  return (
    <span>
      That is all in this span. Calls are kept {daysKept(log_retention_days)} here ({plan} plan).
    </span>
  );
}

/** A span without a call: how one is made. */
export function NoCalls({ proxyUrl, live, onLive }: { proxyUrl: string; live: boolean; onLive: () => void }) {
  return (
    <EmptyState
      icon={<ScrollText />}
      title={live ? 'Waiting for a call' : 'No calls in this span'}
      action={
        !live && (
          <Button variant="primary" onClick={onLive}>
            Listen live
          </Button>
        )
      }
      command={[
        {
          id: 'curl',
          label: 'cURL',
          language: 'bash',
          code: curlOf({ method: 'GET', url: `${proxyUrl}/your-route/`, headers: { 'X-Svc-Key': '$SALLYPORT_KEY' } }),
        },
      ]}
    >
      {live
        ? 'Send one: it appears here the moment it ends.'
        : 'Make a call with a key of this space; it appears here with everything that happened to it.'}
    </EmptyState>
  );
}

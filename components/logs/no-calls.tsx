'use client';

import { ScrollText } from 'lucide-react';
import { curlOf } from '#components/shell/curl.ts';
import { Button } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';

/** A span without a call: how one is made. */
export function NoCalls({ proxyUrl, live, onLive }: { proxyUrl: string; live: boolean; onLive: () => void }) {
  return (
    <EmptyState
      icon={<ScrollText />}
      title={live ? 'Waiting for a call' : 'No calls in this period'}
      action={
        !live && (
          <Button variant="primary" onClick={onLive}>
            Start live tail
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
      {live ? 'Make a call. It appears here as soon as it finishes.' : 'Make a call with an API key from this space, and it appears here.'}
    </EmptyState>
  );
}

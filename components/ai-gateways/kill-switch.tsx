'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { OctagonX, Play } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Status } from './ai-labels.ts';

const PauseDialog = lazyOverlay(() => import('./pause-dialog.tsx').then((module) => module.PauseDialog), whenOpen);

/** Stops a gateway or agent, or lets it go on. */
export function KillSwitch({ of, row }: { of: 'gateway' | 'agent'; row: { id: string; name: string; status: Status } }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('ai_gateway:update');
  const [pausing, setPausing] = useState(false);
  const done = {
    onError: (error: Parameters<typeof notifyRefused>[0]) => notifyRefused(error),
    onSuccess: () => {
      notifyDone(`${row.name} resumed`);
      return cache.invalidateQueries(trpc.aiGateways.pathFilter());
    },
  };
  const gateway = useMutation(trpc.aiGateways.resume.mutationOptions(done));
  const agent = useMutation(trpc.aiGateways.resumeAgent.mutationOptions(done));
  const resume = of === 'gateway' ? gateway : agent;
  if (row.status === 'archived') return null;
  return (
    <>
      {row.status === 'paused' ? (
        <Button
          variant="primary"
          icon={<Play />}
          loading={resume.isPending}
          disabledReason={forbidden}
          onClick={() => resume.mutate({ id: row.id })}
        >
          Resume
        </Button>
      ) : (
        <Button variant="danger" icon={<OctagonX />} disabledReason={forbidden} onClick={() => setPausing(true)}>
          Pause
        </Button>
      )}
      <PauseDialog of={of} id={row.id} name={row.name} open={pausing} onClose={() => setPausing(false)} />
    </>
  );
}

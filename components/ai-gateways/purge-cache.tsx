'use client';

import { useMutation } from '@tanstack/react-query';
import { Eraser } from 'lucide-react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Agent } from './ai-labels.ts';

/** Forgets the kept answers of an agent. They come back by themselves, so nothing is asked first. */
export function PurgeCache({ agent }: { agent: Agent }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('ai_gateway:update');
  const purge = useMutation(
    trpc.aiGateways.purgeAgentCache.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ purged }) => notifyDone(purged === 0 ? 'No answers were kept' : `${counted(purged, 'kept answer')} forgotten`),
    }),
  );
  return (
    <SectionCard
      title="Kept answers"
      description="After a change of what the agent may say: from then on every prompt goes to the provider again."
    >
      <div className="flex max-w-2xl flex-col gap-4">
        <div>
          <Button icon={<Eraser />} loading={purge.isPending} disabledReason={forbidden} onClick={() => purge.mutate({ id: agent.id })}>
            Purge cache
          </Button>
        </div>
        <ApiEquivalent method="POST" path={`/ai-gateway/agents/${agent.id}/purge-cache`} />
      </div>
    </SectionCard>
  );
}

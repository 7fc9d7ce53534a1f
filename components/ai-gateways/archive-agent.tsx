'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Archive } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Agent } from './ai-labels.ts';

const ConfirmDanger = lazyOverlay(() => import('#components/ui/confirm-danger.tsx').then((module) => module.ConfirmDanger), whenOpen);

/** What ends an agent. */
export function ArchiveAgent({ agent }: { agent: Agent }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const forbidden = useForbidden('ai_gateway:delete');
  const [open, setOpen] = useState(false);
  const archive = useMutation(
    trpc.aiGateways.deleteAgent.mutationOptions({
      onSuccess: () => {
        void cache.invalidateQueries(trpc.aiGateways.pathFilter());
        void cache.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`${agent.name} archived`);
        router.replace(path('/ai/agents'));
      },
    }),
  );
  return (
    <SectionCard title="Danger zone" tone="danger">
      <DangerRow title="Archive the agent" text="Its calls are refused, for good. The slug becomes free again.">
        <Button
          variant="danger-quiet"
          icon={<Archive />}
          disabledReason={forbidden ?? (agent.status === 'archived' ? 'It is archived already' : undefined)}
          onClick={() => setOpen(true)}
        >
          Archive agent
        </Button>
      </DangerRow>
      <ConfirmDanger
        open={open}
        onOpenChange={(next) => {
          if (!next) archive.reset();
          setOpen(next);
        }}
        title={`Archive ${agent.name}?`}
        consequences={[
          'Its tokens stop working, and running streams are cut. This can’t be undone.',
          ...(agent.provider ? ['The route that was made with it is disabled.'] : []),
          'Its spend and audit entries are kept.',
        ]}
        confirmLabel="Archive agent"
        resourceName={agent.name}
        space={space}
        busy={archive.isPending}
        error={archive.error ? refusalOf(archive.error) : undefined}
        onConfirm={() => archive.mutate({ id: agent.id })}
      >
        <ApiEquivalent method="DELETE" path={`/ai-gateway/agents/${agent.id}`} />
      </ConfirmDanger>
    </SectionCard>
  );
}

'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ACTION_LABELS } from './labels.ts';

/** Recognizers and a policy for a regulation, in one step. */
export function Packs() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const readOnly = useForbidden('ai_gateway:update');
  const notInPlan = useFeatureReason('compliance_packs');
  const packs = useQuery(trpc.aiControls.compliancePacks.queryOptions({}));
  const install = useMutation(
    trpc.aiControls.installPack.mutationOptions({
      onSuccess: ({ policy, created, upgraded }) => {
        const changed = created.length + upgraded.length;
        notifyDone(changed === 0 ? `${policy.name} is up to date` : `${policy.name}: ${counted(changed, 'recognizer')} installed`);
        return cache.invalidateQueries(trpc.aiControls.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  if (packs.error && !packs.data) return <QueryError query={packs} what="Compliance packs" />;
  if (!packs.data) return <Skeleton className="h-48" />;
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      {packs.data.data.map((pack) => (
        <SectionCard
          key={pack.id}
          title={
            <span className="flex items-center gap-2">
              {pack.name}
              {pack.policy_id && <Badge tone="good">Installed</Badge>}
            </span>
          }
          description={pack.description}
          footer={
            <>
              {pack.policy_id && <LinkButton href={path(`/ai/pii?policy=${pack.policy_id}`)}>Open policy</LinkButton>}
              <Button
                variant={pack.policy_id ? 'secondary' : 'primary'}
                loading={install.isPending && install.variables?.pack === pack.id}
                disabledReason={readOnly ?? notInPlan}
                onClick={() => install.mutate({ pack: pack.id })}
              >
                {pack.policy_id ? 'Update' : `Install ${pack.name}`}
              </Button>
            </>
          }
        >
          <p className="text-ink-2">Built-in detectors: {ACTION_LABELS[pack.default_action].toLowerCase()}.</p>
          <ul className="mt-2 list-disc pl-5 text-ink-2">
            {pack.recognizers.map((one) => (
              <li key={one.name}>{one.description}</li>
            ))}
          </ul>
        </SectionCard>
      ))}
    </div>
  );
}

'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Archive } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { BUDGET_OVERAGE } from './agent-choices.ts';
import type { Gateway } from './ai-labels.ts';
import { SettingsCard } from './settings-card.tsx';
import type { Setting } from './settings-fields.ts';

const GENERAL: readonly Setting<keyof Gateway>[] = [
  { name: 'name', label: 'Name', kind: 'text' },
  { name: 'description', label: 'Description', kind: 'area' },
  {
    name: 'user_attribution',
    label: 'Users',
    kind: 'choice',
    options: [
      { value: 'optional', title: 'Optional', description: 'X-Svc-User says for whom a call is; users are added when first seen.' },
      { value: 'required', title: 'Required', description: 'Calls that name no known user are refused.' },
      { value: 'off', title: 'Off', description: 'The header is ignored.' },
    ],
    hint: 'Attribution, not authentication: it never lets a caller do more.',
  },
];
const BUDGET: readonly Setting<keyof Gateway>[] = [
  { name: 'budget_daily_usd', label: 'Per day', kind: 'decimal', suffix: 'USD', placeholder: 'No limit', hint: 'Resets at 00:00 UTC.' },
  {
    name: 'budget_monthly_usd',
    label: 'Per month',
    kind: 'decimal',
    suffix: 'USD',
    placeholder: 'No limit',
    hint: 'Resets on the first of the month, UTC.',
  },
  { name: 'budget_overage_action', label: 'When it is spent', kind: 'choice', options: BUDGET_OVERAGE },
];
const ALIASES: readonly Setting<keyof Gateway>[] = [
  {
    name: 'model_aliases',
    label: 'Aliases',
    kind: 'pairs',
    placeholder: 'fast = claude-haiku-4-5',
    hint: 'One alias = model per line. An alias can’t name another alias.',
  },
];

/** What of a gateway can be changed, and what ends it. */
export function GatewaySettings({ gateway }: { gateway: Gateway }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('ai_gateway:delete');
  const [archiving, setArchiving] = useState(false);
  const update = useMutation(
    trpc.aiGateways.update.mutationOptions({
      onSuccess: () => {
        notifyDone('Gateway saved');
        return cache.invalidateQueries(trpc.aiGateways.pathFilter());
      },
    }),
  );
  const shared = {
    row: gateway,
    of: 'gateway' as const,
    busy: update.isPending,
    save: (changes: object) => update.mutateAsync({ id: gateway.id, ...changes }),
  };
  return (
    <>
      <SettingsCard {...shared} title="General" settings={GENERAL} />
      <SettingsCard {...shared} title="Budget" description="For everything in the gateway together, in US dollars." settings={BUDGET} />
      <SettingsCard
        {...shared}
        title="Model aliases"
        description="Names that callers may use for models. Rules of an agent apply to the model behind an alias."
        settings={ALIASES}
      />
      <SectionCard title="Danger zone" tone="danger">
        <DangerRow title="Archive the gateway" text="Every call of its agents is refused, for good. Its slug becomes free again.">
          <Button
            variant="danger-quiet"
            icon={<Archive />}
            disabledReason={forbidden ?? (gateway.status === 'archived' ? 'It is archived already' : undefined)}
            onClick={() => setArchiving(true)}
          >
            Archive gateway
          </Button>
        </DangerRow>
      </SectionCard>
      {archiving && <ArchiveDialog gateway={gateway} onClose={() => setArchiving(false)} />}
    </>
  );
}

function ArchiveDialog({ gateway, onClose }: { gateway: Gateway; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const tokens = useQuery(trpc.aiGateways.listGatewayTokens.queryOptions({ id: gateway.id, active: 'true', per_page: 1 }));
  const archive = useMutation(
    trpc.aiGateways.delete.mutationOptions({
      onSuccess: () => {
        void cache.invalidateQueries(trpc.aiGateways.pathFilter());
        void cache.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`${gateway.name} archived`);
        router.replace(path('/ai'));
      },
    }),
  );
  return (
    <ConfirmDanger
      open
      onOpenChange={(next) => next || onClose()}
      title={`Archive ${gateway.name}?`}
      consequences={[
        tokens.data ? `${counted(tokens.data.meta.total, 'active token')} stop working.` : 'Counting its tokens…',
        'Its agents and MCP servers stay listed, but every call is refused. This can’t be undone.',
        'Its spend and audit entries are kept.',
      ]}
      confirmLabel="Archive gateway"
      resourceName={gateway.name}
      space={space}
      busy={archive.isPending}
      error={archive.error ? refusalOf(archive.error) : undefined}
      onConfirm={() => archive.mutate({ id: gateway.id })}
    >
      <ApiEquivalent method="DELETE" path={`/ai-gateway/gateways/${gateway.id}`} />
    </ConfirmDanger>
  );
}

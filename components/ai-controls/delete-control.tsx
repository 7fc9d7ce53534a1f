'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

type Kind = 'pii-policies' | 'pii-recognizers' | 'firewall-policies';
const NOUNS = { 'pii-policies': 'policy', 'pii-recognizers': 'recognizer', 'firewall-policies': 'policy' } as const;

/** Asks before a policy or recognizer goes, and says what still uses it. */
export function DeleteControl({ kind, row, onClose }: { kind: Kind; row: { id: string; name: string } | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const enabled = row !== undefined;
  const id = row?.id ?? '';
  const noun = NOUNS[kind];
  const done = {
    onSuccess: async () => {
      notifyDone(`${row?.name} deleted`);
      onClose();
      await cache.invalidateQueries(trpc.aiControls.pathFilter());
    },
  };
  const pii = useQuery(trpc.aiControls.getPiiPolicy.queryOptions({ id }, { enabled: enabled && kind === 'pii-policies', gcTime: 0 }));
  const firewall = useQuery(
    trpc.aiControls.getFirewallPolicy.queryOptions({ id }, { enabled: enabled && kind === 'firewall-policies', gcTime: 0 }),
  );
  const policies = useQuery(
    trpc.aiControls.piiPolicies.queryOptions({ per_page: 100 }, { enabled: enabled && kind === 'pii-recognizers' }),
  );
  const removePolicy = useMutation(trpc.aiControls.deletePiiPolicy.mutationOptions(done));
  const removeRecognizer = useMutation(trpc.aiControls.deleteRecognizer.mutationOptions(done));
  const removeFirewall = useMutation(trpc.aiControls.deleteFirewallPolicy.mutationOptions(done));
  const remove = kind === 'pii-policies' ? removePolicy : kind === 'pii-recognizers' ? removeRecognizer : removeFirewall;
  const users =
    kind === 'pii-recognizers'
      ? policies.data?.data.filter(({ recognizer_ids }) => recognizer_ids.includes(id)).map(({ name }) => name)
      : (kind === 'pii-policies' ? pii : firewall).data?.attached_to.map(({ name }) => name);
  const used = users !== undefined && users.length > 0;
  return (
    <ConfirmDanger
      open={enabled}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      space={space}
      title={`Delete “${row?.name ?? ''}”?`}
      confirmLabel={`Delete ${noun}`}
      consequences={
        users && [
          used
            ? `Used by ${users.slice(0, 5).join(', ')}${users.length > 5 ? ' and more' : ''}. Detach it there first.`
            : `Nothing uses this ${noun}.`,
        ]
      }
      blockedReason={used ? 'Detach it first' : undefined}
      onConfirm={() => row && remove.mutate({ id: row.id })}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
    >
      {row && (
        <ApiEquivalent
          method="DELETE"
          path={
            kind === 'pii-policies'
              ? `/ai-gateway/pii-policies/${row.id}`
              : kind === 'pii-recognizers'
                ? `/ai-gateway/pii-recognizers/${row.id}`
                : `/ai-gateway/firewall-policies/${row.id}`
          }
        />
      )}
    </ConfirmDanger>
  );
}

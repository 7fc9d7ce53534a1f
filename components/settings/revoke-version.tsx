'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Checkbox } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { TenantKey } from '#server/domain/keys/schema.ts';

type Key = z.output<typeof TenantKey>;

/** Destroys a version, after saying how many values go with it. */
export function RevokeVersion({ version, onClose }: { version: Key | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { slug, role } = useScope();
  const [agreed, setAgreed] = useState(false);
  const revoke = useMutation(
    trpc.tenantKeys.revoke.mutationOptions({
      onSuccess: async (answer) => {
        notifyDone(`Version ${answer.version} is revoked`);
        close();
        await cache.invalidateQueries(trpc.tenantKeys.pathFilter());
      },
    }),
  );
  const close = () => {
    setAgreed(false);
    revoke.reset();
    onClose();
  };
  const active = version?.status === 'active';
  const loses = version !== undefined && (active || version.values > 0);
  const blockedReason =
    loses && role !== 'owner'
      ? 'Only an Owner can revoke a version whose values would be lost.'
      : version && !loses && version.rewrap_completed_at === null
        ? 'Re-encrypting from this version isn’t finished. Try again in a few minutes.'
        : undefined;
  return (
    <ConfirmDanger
      open={version !== undefined}
      onOpenChange={(open) => open || close()}
      title={`Revoke version ${version?.version ?? ''}?`}
      consequences={[
        loses
          ? `${grouped(version.values)} stored ${version.values === 1 ? 'value' : 'values'} can never be read again, by anyone, backups included.`
          : 'No stored value is under this version.',
        ...(active ? ['It is the version in use: the workspace is sealed for good, and its secrets are erased.'] : []),
        'This can’t be undone.',
      ]}
      confirmLabel="Revoke version"
      resourceName={slug}
      space="live"
      busy={revoke.isPending}
      blockedReason={blockedReason}
      missing={loses && !agreed ? 'Confirm that these values may be lost.' : undefined}
      error={revoke.error ? refusalOf(revoke.error) : undefined}
      onConfirm={() => version && revoke.mutate({ version: version.version, confirm_slug: slug, force: loses })}
    >
      {loses && role === 'owner' && <Checkbox checked={agreed} onCheckedChange={setAgreed} label="These values may be lost" />}
    </ConfirmDanger>
  );
}

'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { usePersonCall } from '#components/me/person-calls.ts';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Checkbox } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { counted } from '#components/ui/numbers.ts';
import type { MemberImpact } from '#server/domain/team/schema.ts';
import { KeysLeft, removalLines } from './keys-left.tsx';

type Props = { workspace: { id: string; name: string }; id: string; email: string; open: boolean; onClose: () => void };

/** Asks before the person leaves one of their workspaces, which need not be that of the page. */
export function LeaveWorkspace({ workspace, id, email, open, onClose }: Props) {
  const call = usePersonCall();
  const [revoke, setRevoke] = useState(false);
  const impact = useQuery({
    queryKey: ['team', 'impact', workspace.id],
    queryFn: () => call<z.output<typeof MemberImpact>>('GET', `/admin/members/${id}/impact`, undefined, workspace.id),
    enabled: open,
    staleTime: 0,
  });
  const keys = impact.data?.api_keys ?? [];
  const leave = useMutation({
    mutationFn: () => call('DELETE', `/admin/members/${id}`, { revoke_api_keys: revoke && keys.length > 0 }, workspace.id),
    // The frame may stand in the workspace that was left.
    onSuccess: () => window.location.assign('/'),
  });
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Leave ${workspace.name}?`}
      consequences={impact.data && removalLines(impact.data, true)}
      confirmLabel="Leave workspace"
      resourceName={email}
      space="live"
      busy={leave.isPending}
      error={leave.error ? refusalOf(leave.error) : impact.error ? refusalOf(impact.error) : undefined}
      onConfirm={() => leave.mutate()}
    >
      {keys.length > 0 && (
        <div className="flex flex-col gap-2.5">
          <Checkbox
            checked={revoke}
            onCheckedChange={setRevoke}
            label={`Also revoke the ${counted(keys.length, 'API key')} you created`}
            description={
              revoke ? 'Calls with these keys are refused immediately. This can’t be undone.' : 'These keys keep working for the workspace.'
            }
          />
          <KeysLeft keys={keys} />
        </div>
      )}
    </ConfirmDanger>
  );
}

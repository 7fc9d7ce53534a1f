'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import { usePersonCall } from '#components/me/person-calls.ts';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import type { MemberImpact } from '#server/domain/team/schema.ts';
import { MadeLeft, removalLines, useRevoking } from './made-left.tsx';

type Props = { workspace: { id: string; name: string }; id: string; email: string; open: boolean; onClose: () => void };

/** Asks before the person leaves one of their workspaces, which need not be that of the page. */
export function LeaveWorkspace({ workspace, id, email, open, onClose }: Props) {
  const call = usePersonCall();
  const impact = useQuery({
    queryKey: ['team', 'impact', workspace.id],
    queryFn: () => call<z.output<typeof MemberImpact>>('GET', `/admin/members/${id}/impact`, undefined, workspace.id),
    enabled: open,
    staleTime: 0,
  });
  const made = impact.data?.made ?? [];
  const revoking = useRevoking(made, true);
  const leave = useMutation({
    mutationFn: () => call('DELETE', `/admin/members/${id}`, { revoke: revoking.kinds }, workspace.id),
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
      {made.length > 0 && <MadeLeft made={made} you revoking={revoking} />}
    </ConfirmDanger>
  );
}

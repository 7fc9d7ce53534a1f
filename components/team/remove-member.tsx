'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { MadeLeft, removalLines, useRevoking } from './made-left.tsx';
import { type MemberRow, nameOf } from './member-labels.ts';

/** Asks before a membership ends, with everything that ends with it and what stays for review. Also how one leaves. */
export function RemoveMember({ member, open, onClose }: { member: MemberRow; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { person } = useScope();
  const you = member.id === person;
  const impact = useQuery(trpc.team.impact.queryOptions({ id: member.id }, { enabled: open, staleTime: 0 }));
  const remove = useMutation(
    trpc.team.delete.mutationOptions({
      onSuccess: ({ made }) => {
        if (you) return window.location.assign('/');
        void cache.invalidateQueries(trpc.team.pathFilter());
        void cache.invalidateQueries(trpc.account.pathFilter());
        void cache.invalidateQueries(trpc.apiKeys.pathFilter());
        const revoked = made.filter((thing) => thing.revoked).length;
        notifyDone(`${nameOf(member)} removed${revoked > 0 ? ` and ${counted(revoked, 'credential')} revoked or turned off` : ''}`);
        onClose();
      },
    }),
  );
  const made = impact.data?.made ?? [];
  const revoking = useRevoking(made, you);
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={you ? 'Leave this workspace?' : `Remove ${nameOf(member)}?`}
      consequences={impact.data && removalLines(impact.data, you)}
      confirmLabel={you ? 'Leave workspace' : 'Remove member'}
      resourceName={member.email}
      space="live"
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : impact.error ? refusalOf(impact.error) : undefined}
      onConfirm={() => remove.mutate({ id: member.id, revoke: revoking.kinds })}
    >
      {made.length > 0 && <MadeLeft made={made} you={you} revoking={revoking} />}
    </ConfirmDanger>
  );
}

'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type MemberRow, nameOf } from './member-labels.ts';

type Props = { member: MemberRow; open: boolean; onClose: () => void };

/** Ends the sessions of a member that act in this workspace, and what applications hold in their name here. */
export function SignOutMember({ member, open, onClose }: Props) {
  const trpc = useTRPC();
  const impact = useQuery(trpc.team.impact.queryOptions({ id: member.id }, { enabled: open, staleTime: 0 }));
  const end = useMutation(
    trpc.team.endSessions.mutationOptions({
      onSuccess: ({ revoked, apps }) => {
        notifyDone(`${counted(revoked, 'session')} and ${counted(apps, 'connected app')} signed out`);
        onClose();
      },
    }),
  );
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Sign out ${nameOf(member)}?`}
      consequences={
        impact.data && [
          `${counted(impact.data.sessions, 'session')} and ${counted(impact.data.apps, 'connected app')} in this workspace will be signed out. Those of their other workspaces go on.`,
          'They stay a member and can sign in again.',
        ]
      }
      confirmLabel="Sign out"
      space="live"
      busy={end.isPending}
      error={end.error ? refusalOf(end.error) : impact.error ? refusalOf(impact.error) : undefined}
      onConfirm={() => end.mutate({ id: member.id })}
    />
  );
}

/** Makes a member an Owner in the place of the one who asks. */
export function TransferOwnership({ member, open, onClose }: Props) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { slug } = useScope();
  const transfer = useMutation(
    trpc.team.transferOwnership.mutationOptions({
      onSuccess: () => {
        void cache.invalidateQueries(trpc.team.pathFilter());
        notifyDone(`${nameOf(member)} is now Owner`);
        // The page was drawn for an Owner.
        window.location.assign(`/${slug}/settings/team`);
      },
    }),
  );
  return (
    <ConfirmDanger
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Transfer ownership to ${nameOf(member)}?`}
      consequences={[
        `${nameOf(member)} becomes Owner and can do everything, including removing you.`,
        'You become Admin. Only an Owner can make you Owner again.',
      ]}
      confirmLabel="Transfer ownership"
      resourceName={member.email}
      space="live"
      busy={transfer.isPending}
      error={transfer.error ? refusalOf(transfer.error) : undefined}
      onConfirm={() => transfer.mutate({ id: member.id })}
    />
  );
}

'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Checkbox } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { KeysLeft, removalLines } from './keys-left.tsx';
import { type MemberRow, nameOf } from './member-labels.ts';

/** Asks before a membership ends, with everything that ends with it and what stays for review. Also how one leaves. */
export function RemoveMember({ member, open, onClose }: { member: MemberRow; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { person } = useScope();
  const you = member.id === person;
  const [revoke, setRevoke] = useState(!you);
  const impact = useQuery(trpc.team.impact.queryOptions({ id: member.id }, { enabled: open, staleTime: 0 }));
  const remove = useMutation(
    trpc.team.delete.mutationOptions({
      onSuccess: ({ api_keys }) => {
        if (you) return window.location.assign('/');
        void cache.invalidateQueries(trpc.team.pathFilter());
        void cache.invalidateQueries(trpc.account.pathFilter());
        void cache.invalidateQueries(trpc.apiKeys.pathFilter());
        const revoked = api_keys.filter((key) => key.revoked).length;
        notifyDone(`${nameOf(member)} removed${revoked > 0 ? ` and ${counted(revoked, 'API key')} revoked` : ''}`);
        onClose();
      },
    }),
  );
  const keys = impact.data?.api_keys ?? [];
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
      onConfirm={() => remove.mutate({ id: member.id, revoke_api_keys: revoke && keys.length > 0 })}
    >
      {keys.length > 0 && (
        <div className="flex flex-col gap-2.5">
          <Checkbox
            checked={revoke}
            onCheckedChange={setRevoke}
            label={
              you
                ? `Also revoke the ${counted(keys.length, 'API key')} you created`
                : `Also revoke the ${counted(keys.length, 'API key')} they created`
            }
            description={
              revoke
                ? 'Calls with these keys are refused immediately. This can’t be undone.'
                : `These keys keep working. ${you ? 'You may still know them.' : 'The person may still know them.'}`
            }
          />
          <KeysLeft keys={keys} />
        </div>
      )}
    </ConfirmDanger>
  );
}

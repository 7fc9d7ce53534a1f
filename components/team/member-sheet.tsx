'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { MEMBER_ROLES, type MemberRole } from '#server/domain/roles/matrix.shared.ts';
import { MadeBefore } from './made-left.tsx';
import { type MemberRow, nameOf, roleOptions, sourceOf, unmanageable } from './member-labels.ts';

/** One member: who they are, and the role and permissions that whoever may can change. */
export function MemberSheet({ id, onClose }: { id: string | null; onClose: () => unknown }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.team.get.queryOptions({ id: id ?? '' }, { enabled: id !== null }));
  const member = query.data;
  return (
    <Sheet
      open={id !== null}
      onOpenChange={(next) => next || void onClose()}
      title={member ? nameOf(member) : 'Member'}
      description={member?.full_name ? member.email : undefined}
    >
      {query.isError ? (
        <QueryError query={query} what="This member" />
      ) : member ? (
        <MemberForm key={`${member.id} ${member.role}`} member={member} onClose={onClose} />
      ) : (
        <Skeleton lines={6} label="Loading the member" />
      )}
    </Sheet>
  );
}

function MemberForm({ member, onClose }: { member: MemberRow; onClose: () => unknown }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { role, person } = useScope();
  const own = role as MemberRole;
  const locked = unmanageable(own, person, member);
  const [wanted, setWanted] = useState(member.role);
  const [reveals, setReveals] = useState(member.reveal_secrets);
  const [reviews, setReviews] = useState(member.migration_reviewer);
  const update = useMutation(
    trpc.team.update.mutationOptions({
      onSuccess: (after) => {
        void cache.invalidateQueries(trpc.team.pathFilter());
        notifyDone(after.role === member.role ? `${nameOf(after)} saved` : `${nameOf(after)} is now ${capitalize(after.role)}`);
        void onClose();
      },
    }),
  );
  const input = {
    ...(wanted === member.role ? {} : { role: wanted }),
    ...(wanted === 'editor' && reveals !== member.reveal_secrets ? { reveal_secrets: reveals } : {}),
    ...(wanted === 'admin' && own === 'owner' && reviews !== member.migration_reviewer ? { migration_reviewer: reviews } : {}),
  };
  const dirty = Object.keys(input).length > 0;
  const shrinks = !locked && MEMBER_ROLES.indexOf(wanted) > MEMBER_ROLES.indexOf(member.role);
  const impact = useQuery(trpc.team.impact.queryOptions({ id: member.id }, { enabled: shrinks }));
  const made = shrinks ? (impact.data?.made ?? []) : [];
  return (
    <form
      className="flex grow flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (dirty && !locked) update.mutate({ id: member.id, ...input });
      }}
    >
      <KeyValueList
        items={[
          { label: 'Email', value: member.email, copy: member.email },
          { label: 'Last active', value: <Time value={member.last_active_at} empty="Never" /> },
          ...(member.second_factor === null ? [] : [{ label: 'Second factor', value: member.second_factor ? 'On' : 'Off' }]),
          {
            label: 'Joined',
            value: (
              <>
                <Time value={member.joined_at} format="date" />, {sourceOf(member.source).toLowerCase()}
                {member.added_by && ` from ${member.added_by}`}
              </>
            ),
          },
          { label: 'ID', value: member.id, copy: member.id },
        ]}
      />
      {locked ? (
        <Callout title={`Role: ${capitalize(member.role)}`}>{locked}</Callout>
      ) : (
        <>
          <Field group label="Role">
            <RadioCards value={wanted} onValueChange={setWanted} options={roleOptions(own, { owner: true })} />
          </Field>
          {wanted === 'editor' && (
            <Checkbox
              checked={reveals}
              onCheckedChange={setReveals}
              label="Can reveal secret values"
              description="Each reveal takes their second factor and is recorded."
            />
          )}
          {wanted === 'admin' && own === 'owner' && (
            <Checkbox
              checked={reviews}
              onCheckedChange={setReviews}
              label="Can review migrations"
              description="Approves values that a migration imports."
            />
          )}
          {made.length > 0 && <MadeBefore made={made} />}
          <ApiEquivalent method="PATCH" path={`/admin/members/${member.id}`} body={input} />
        </>
      )}
      <MutationError error={update.error} />
      <SheetFooter>
        <Button onClick={() => void onClose()}>{locked ? 'Close' : 'Cancel'}</Button>
        {!locked && (
          <Button type="submit" variant="primary" loading={update.isPending} disabledReason={dirty ? undefined : 'No changes to save'}>
            Save
          </Button>
        )}
      </SheetFooter>
    </form>
  );
}

'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { WANTED, type Wanted } from '#server/domain/access-requests/wanted.shared.ts';

const WORDS: Record<Wanted, string> = { reveal_secrets: 'Reveal secrets', viewer: 'Viewer role', editor: 'Editor role' };
const STATES = { open: ['pending', 'Open'], approved: ['ok', 'Approved'], denied: ['blocked', 'Denied'] } as const;

/** What members ask for: Owners and Admins decide, others see their own and ask. */
export function AccessRequests() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('member:update');
  const list = useQuery(trpc.accessRequests.list.queryOptions({}, { refetchInterval: 30_000 }));
  const decide = useMutation(
    trpc.accessRequests.decide.mutationOptions({
      onSuccess: ({ state, person }) => notifyDone(`${state === 'approved' ? 'Approved' : 'Denied'}. ${person} is told.`),
      onSettled: () => cache.invalidateQueries(trpc.accessRequests.pathFilter()),
    }),
  );
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <AskForAccess />
      <MutationError error={decide.error} />
      <SectionCard title="Requests" description={forbidden ? 'What you asked for.' : 'What members asked for. Approving gives it at once.'}>
        {list.isError ? (
          <QueryError query={list} what="Requests" />
        ) : !list.data ? (
          <Skeleton lines={3} label="Loading requests" />
        ) : list.data.data.length === 0 ? (
          <p className="text-ink-2">There are no requests.</p>
        ) : (
          <ul className="flex flex-col">
            {list.data.data.map((row) => {
              const [state, word] = STATES[row.state];
              return (
                <li key={row.id} className="flex flex-wrap items-start justify-between gap-2 border-line border-b py-2 last:border-b-0">
                  <div className="min-w-0">
                    <p className="[overflow-wrap:anywhere]">
                      <b className="font-medium">{row.person}</b>: {WORDS[row.wants]}
                    </p>
                    <p className="text-ink-2 [overflow-wrap:anywhere]">{row.reason}</p>
                    <p className="flex flex-wrap gap-x-2 text-ink-2 text-xs">
                      <Status state={state}>{word}</Status>
                      {row.decided_by && <span>by {row.decided_by}</span>}
                      <Time value={row.decided_at ?? row.created_at} />
                    </p>
                  </div>
                  {row.state === 'open' && !row.mine && !forbidden && (
                    <span className="flex gap-2">
                      <Button
                        size="sm"
                        icon={<X />}
                        aria-label={`Deny the request of ${row.person}`}
                        loading={decide.isPending}
                        onClick={() => decide.mutate({ id: row.id, approve: false })}
                      >
                        Deny
                      </Button>
                      <Button
                        size="sm"
                        variant="primary"
                        icon={<Check />}
                        aria-label={`Approve the request of ${row.person}`}
                        loading={decide.isPending}
                        onClick={() => decide.mutate({ id: row.id, approve: true })}
                      >
                        Approve
                      </Button>
                    </span>
                  )}
                </li>
              );
            })}
          </ul>
        )}
      </SectionCard>
    </div>
  );
}

const RANK: Readonly<Record<string, number>> = { member: 0, viewer: 1, editor: 2 };

/** Only what the person's role lacks can be asked for; Owners and Admins have it all. */
function AskForAccess() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { role, reveal_secrets } = useScope();
  const rank = RANK[role];
  const choices = WANTED.filter((one) =>
    one === 'reveal_secrets' ? role === 'editor' && !reveal_secrets : rank !== undefined && rank < (RANK[one] ?? 0),
  );
  const [wants, setWants] = useState<Wanted | undefined>(choices.at(-1));
  const [reason, setReason] = useState('');
  const create = useMutation(
    trpc.accessRequests.create.mutationOptions({
      onSuccess: () => {
        setReason('');
        notifyDone('Asked. Owners and Admins are told.');
        return cache.invalidateQueries(trpc.accessRequests.pathFilter());
      },
    }),
  );
  if (choices.length === 0) return null;
  return (
    <SectionCard title="Ask for access" description="Owners and Admins see your request in their inbox.">
      <form
        className="flex flex-col items-start gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (wants && reason.trim() !== '') create.mutate({ wants, reason: reason.trim() });
        }}
      >
        <Field label="What you need">
          <Select options={choices.map((value) => ({ value, label: WORDS[value] }))} value={wants ?? null} onValueChange={setWants} />
        </Field>
        <Field label="Reason" required className="w-full">
          <Textarea rows={2} maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
        </Field>
        <MutationError error={create.error} />
        <Button
          type="submit"
          variant="primary"
          loading={create.isPending}
          disabledReason={reason.trim() === '' ? 'Say what you need it for' : undefined}
        >
          Ask for access
        </Button>
      </form>
    </SectionCard>
  );
}

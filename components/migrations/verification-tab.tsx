'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Detail } from './labels.ts';

const OUTCOMES: Readonly<Record<string, { state: 'ok' | 'warning'; label: string }>> = {
  clean: { state: 'ok', label: 'Clean' },
  dirty: { state: 'warning', label: 'Still read' },
  drift: { state: 'warning', label: 'Values differ' },
};

/** Whether anything still reads the source. We delete nothing there. */
export function VerificationTab({ migration }: { migration: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('migration:create');
  const [notes, setNotes] = useState('');
  const query = useQuery(trpc.migrations.getVerification.queryOptions({ id: migration.id }));
  const confirm = useMutation(
    trpc.migrations.confirmClean.mutationOptions({
      onSuccess: () => {
        setNotes('');
        notifyDone('Confirmed');
        return queryClient.invalidateQueries(trpc.migrations.pathFilter());
      },
    }),
  );
  if (query.isError) return <QueryError query={query} what="The verification" />;
  if (!query.data) return <Skeleton lines={4} label="Loading the verification" />;
  const { safe_to_delete, verified_at, verification_window_days, events } = query.data;
  return (
    <>
      <SectionCard
        title="Before you delete at the source"
        description={`Watch the store’s own access log for ${counted(verification_window_days, 'day')}. When nothing reads it any more, confirm here and delete the secrets there yourself.`}
      >
        <div className="flex flex-col gap-3">
          <Status state={safe_to_delete ? 'ok' : 'pending'}>{safe_to_delete ? 'Safe to delete at the source' : 'Not confirmed'}</Status>
          {verified_at && (
            <p className="text-ink-3 text-xs">
              First confirmed <Time value={verified_at} />
            </p>
          )}
          <Field label="Notes" optional hint="Recorded with your name.">
            <Input value={notes} maxLength={1_000} onChange={(event) => setNotes(event.target.value)} />
          </Field>
          {confirm.error && <MutationError error={confirm.error} />}
          <div>
            <Button
              loading={confirm.isPending}
              disabledReason={forbidden}
              onClick={() => confirm.mutate({ id: migration.id, ...(notes.trim() ? { notes: notes.trim() } : {}) })}
            >
              Confirm clean
            </Button>
          </div>
        </div>
      </SectionCard>
      <SectionCard title="Events">
        {events.length === 0 ? (
          <EmptyState title="No events yet">Confirmations and reads seen by agents appear here.</EmptyState>
        ) : (
          <ul className="flex flex-col divide-y divide-line">
            {events.map((event) => (
              <li key={event.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
                <Status state={OUTCOMES[event.outcome]?.state ?? 'pending'}>{OUTCOMES[event.outcome]?.label ?? event.outcome}</Status>
                <span>{event.event_type.replaceAll('_', ' ')}</span>
                {typeof event.details.notes === 'string' && <span className="text-ink-2 text-xs">“{event.details.notes}”</span>}
                <span className="ml-auto text-ink-3 text-xs">
                  <Time value={event.created_at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </SectionCard>
    </>
  );
}

'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { Button } from '#components/ui/button.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import type { DeletedWorkspaces as Deleted } from '#server/domain/account/schema.ts';
import { usePersonCall } from './person-calls.ts';

type Listed = z.output<typeof Deleted>['workspaces'][number];
const dayOf = (iso: string) => new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(new Date(iso));

/** Workspaces of the person that were deleted and can still be brought back; nothing while there are none. */
export function DeletedWorkspaces() {
  const call = usePersonCall();
  const query = useQuery({
    queryKey: ['deleted-workspaces'],
    queryFn: () => call<{ workspaces: Listed[] }>('GET', '/auth/workspaces/deleted'),
  });
  const workspaces = query.data?.workspaces ?? [];
  if (workspaces.length === 0) return null;
  return (
    <SectionCard title="Deleted workspaces">
      {workspaces.map((workspace) => (
        <Row key={workspace.id} workspace={workspace} />
      ))}
    </SectionCard>
  );
}

function Row({ workspace: { id, name, slug, erased_after } }: { workspace: Listed }) {
  const call = usePersonCall();
  const restore = useMutation({
    mutationFn: () => call('POST', `/auth/workspaces/${id}/restore`),
    onError: notifyRefused,
    // The frame and every address of it is rendered anew.
    onSuccess: () => window.location.assign(`/${slug}`),
  });
  return (
    <DangerRow title={name} text={`Everything in it is destroyed after ${dayOf(erased_after)}.`}>
      <Button loading={restore.isPending} onClick={() => restore.mutate()}>
        Restore {name}
      </Button>
    </DangerRow>
  );
}

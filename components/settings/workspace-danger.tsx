'use client';

import { useMutation } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';

/** Another slug: every address of the workspace changes with it. */
export function ChangeSlugRow() {
  const [asking, setAsking] = useState(false);
  const forbidden = useForbidden('tenant:change_slug');
  return (
    <DangerRow
      title="Change the slug"
      text="Changes every proxy URL and dashboard link of this workspace. The old ones stop working at once."
    >
      <Button variant="danger-quiet" disabledReason={forbidden} onClick={() => setAsking(true)}>
        Change slug…
      </Button>
      {asking && <ChangeSlugDialog onClose={() => setAsking(false)} />}
    </DangerRow>
  );
}

function ChangeSlugDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const { slug } = useScope();
  const [wanted, setWanted] = useState('');
  const change = useMutation(
    trpc.account.changeSlug.mutationOptions({
      // Every address of the open pages is another one now.
      onSuccess: (account) => window.location.assign(`/${account.slug}/settings/workspace`),
    }),
  );
  return (
    <ConfirmDanger
      open
      onOpenChange={(open) => !open && onClose()}
      space="live"
      title="Change the slug?"
      resourceName={slug}
      confirmLabel="Change slug"
      consequences={[
        'Callers that use the old proxy URLs are refused until you change them. There is no redirect.',
        'Bookmarks and links to this dashboard change too.',
        'The old slug stays reserved for this workspace for 90 days. You can change back to it.',
      ]}
      missing={wanted.trim() === '' ? 'Enter the new slug first' : undefined}
      busy={change.isPending}
      error={errorOf(change.error)}
      onConfirm={() => change.mutate({ slug: wanted.trim(), confirm_slug: slug })}
    >
      <Field label="New slug" required hint="1 to 55 lowercase letters, digits or hyphens.">
        <Input mono autoComplete="off" value={wanted} onChange={(event) => setWanted(event.target.value.toLowerCase())} />
      </Field>
    </ConfirmDanger>
  );
}

/** The end of the workspace, with 14 days to think again. */
export function DeleteWorkspaceRow({ name }: { name: string }) {
  const [asking, setAsking] = useState(false);
  const forbidden = useForbidden('tenant:delete');
  return (
    <DangerRow
      title="Delete the workspace"
      text="Stops everything at once. An Owner can restore it for 14 days; after that its keys are destroyed."
    >
      <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={forbidden} onClick={() => setAsking(true)}>
        Delete workspace…
      </Button>
      {asking && <DeleteDialog name={name} onClose={() => setAsking(false)} />}
    </DangerRow>
  );
}

function DeleteDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const trpc = useTRPC();
  const { slug } = useScope();
  const remove = useMutation(trpc.account.remove.mutationOptions({ onSuccess: () => window.location.assign('/me/profile') }));
  return (
    <ConfirmDanger
      open
      onOpenChange={(open) => !open && onClose()}
      space="live"
      title={`Delete ${name}?`}
      resourceName={slug}
      confirmLabel="Delete workspace"
      consequences={[
        'Routes, API keys and this dashboard stop working at once, in Live and Test, for everyone.',
        'Secrets it shares with other workspaces are refused there, and after 14 days every share ends.',
        'Every Owner gets an email and can restore the workspace for 14 days, from their profile.',
        'After 14 days its encryption keys are destroyed and all rows are deleted. Nobody can bring it back, backups included.',
        'A paid subscription isn’t renewed.',
      ]}
      busy={remove.isPending}
      error={errorOf(remove.error)}
      onConfirm={() => remove.mutate({ confirm_slug: slug })}
    />
  );
}

function errorOf(error: unknown): { message: string; request_id?: string | undefined } | undefined {
  if (!error) return undefined;
  const { message, request_id } = refusalOf(error);
  return { message, request_id: request_id || undefined };
}

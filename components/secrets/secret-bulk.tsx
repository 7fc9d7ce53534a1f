'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { FolderInput, Tag, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { BulkBar } from '#components/ui/bulk-bar.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Menu } from '#components/ui/dropdown-menu.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { SecretRow } from './secret-row.ts';

type Props = {
  selected: ReadonlySet<string>;
  onClear: () => void;
  rows: readonly SecretRow[];
  collections: readonly { id: string; name: string }[];
};
type Outcome = { done: string[]; refused: { name: string; message: string }[] };

/** The same change for several secrets. What the server refuses (still in use) is named; the rest is done. */
export function SecretBulkBar({ selected, onClear, rows, collections }: Props) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const [asking, setAsking] = useState<'tag' | 'delete'>();
  const [tag, setTag] = useState('');
  const chosen = rows.filter((row) => selected.has(row.id));
  const names = new Map(rows.map((row) => [row.id, row.name]));

  const run = useMutation({
    mutationFn: async (change: (row: SecretRow) => Promise<unknown>): Promise<Outcome> => {
      const outcome: Outcome = { done: [], refused: [] };
      // One after the other: each is its own transaction, and a refusal of one must not hide that others were done.
      for (const row of chosen) {
        await change(row).then(
          () => outcome.done.push(row.id),
          (error: unknown) => outcome.refused.push({ name: names.get(row.id) ?? row.id, message: refusalOf(error).message }),
        );
      }
      return outcome;
    },
    onSuccess: ({ done, refused }) => {
      void queryClient.invalidateQueries(trpc.secrets.pathFilter());
      if (done.length > 0) notifyDone(`${counted(done.length, 'secret')} updated`);
      if (refused.length > 0) return;
      setAsking(undefined);
      onClear();
    },
  });
  // The tags are sent as a whole: they are made of what the secret has now, and refused if that changes on the way.
  const addTag = async ({ id }: SecretRow, added: string) => {
    const { tags, updated_at } = await client.secrets.get.query({ id });
    if (!tags.includes(added)) await client.secrets.update.mutate({ id, tags: [...tags, added], expected_updated_at: updated_at });
  };
  const refused = run.data?.refused ?? [];
  const close = () => {
    setAsking(undefined);
    run.reset();
  };
  return (
    <>
      <BulkBar count={selected.size} noun="secret" onClear={onClear}>
        <Button size="sm" icon={<Tag />} onClick={() => setAsking('tag')}>
          Tag
        </Button>
        <Menu
          side="top"
          trigger={
            <Button size="sm" icon={<FolderInput />} loading={run.isPending && !asking}>
              Move
            </Button>
          }
          entries={[
            ...collections.map(({ id, name }) => ({
              label: name,
              onSelect: () => run.mutate((row) => client.secrets.update.mutate({ id: row.id, collection_id: id })),
            })),
            'separator',
            {
              label: 'No collection',
              onSelect: () => run.mutate((row) => client.secrets.update.mutate({ id: row.id, collection_id: null })),
            },
          ]}
        />
        <Button size="sm" variant="danger-quiet" icon={<Trash2 />} onClick={() => setAsking('delete')}>
          Delete
        </Button>
      </BulkBar>
      <Dialog
        open={asking === 'tag'}
        onOpenChange={(open) => !open && close()}
        title={`Tag ${counted(chosen.length, 'secret')}`}
        footer={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button
              variant="primary"
              loading={run.isPending}
              disabledReason={tag.trim() ? undefined : 'Enter a tag'}
              onClick={() => run.mutate((row) => addTag(row, tag.trim()))}
            >
              Add tag
            </Button>
          </>
        }
      >
        <Field label="Tag">
          <Input value={tag} onChange={(event) => setTag(event.target.value)} />
        </Field>
        <Refused refused={refused} />
      </Dialog>
      <ConfirmDanger
        open={asking === 'delete'}
        onOpenChange={(open) => !open && close()}
        title={`Delete ${counted(chosen.length, 'secret')}?`}
        consequences={[
          'Their values in all environments are permanently deleted.',
          'Secrets that routes still use are kept and listed here.',
        ]}
        confirmLabel="Delete secrets"
        resourceName={`delete ${chosen.length}`}
        space={space}
        busy={run.isPending}
        onConfirm={() => run.mutate((row) => client.secrets.delete.mutate({ id: row.id }))}
      >
        <Refused refused={refused} />
      </ConfirmDanger>
    </>
  );
}

function Refused({ refused }: { refused: Outcome['refused'] }) {
  if (refused.length === 0) return null;
  return (
    <Callout tone="warn" title={`${counted(refused.length, 'secret')} not changed`}>
      <ul>
        {refused.map(({ name, message }) => (
          <li key={name}>
            <span className="font-mono text-xs">{name}</span>: {message}
          </li>
        ))}
      </ul>
    </Callout>
  );
}

'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Assertion } from '#server/domain/routes/examples/assertions.shared.ts';
import { carriesCredential } from '#server/domain/routes/trial/credential-headers.shared.ts';
import { AssertionEditor } from './assertion-editor.tsx';
import type { Example } from './use-examples.ts';
import type { Trial } from './use-test-request.ts';

type Props = {
  open: boolean;
  onClose: () => void;
  onSaved: (example: Example) => void;
  routeId: string;
  trial: Trial;
  /** The one the form was filled in from. */
  loaded: Example | undefined;
  /** The status that came back last. */
  status: number | undefined;
};

/** Names the request as it stands, and says what its answer must hold. */
export function SaveExample({ open, onClose, ...rest }: Props) {
  return (
    <Sheet open={open} onOpenChange={(next) => !next && onClose()} title="Save as example">
      {open && <Fields {...rest} onClose={onClose} />}
    </Sheet>
  );
}

function Fields({ onClose, onSaved, routeId, trial, loaded, status }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [name, setName] = useState(loaded?.name ?? `${trial.method} ${trial.path.split('?')[0]}`);
  const [assertions, setAssertions] = useState<Assertion[]>(loaded?.assertions ?? [{ kind: 'status', equals: status ?? 200 }]);
  const done = {
    onSuccess: (kept: Example) => {
      notifyDone(`${kept.name} saved`);
      onSaved(kept);
      onClose();
      return cache.invalidateQueries(trpc.routes.examples.queryFilter({ id: routeId }));
    },
  };
  const create = useMutation(trpc.routes.saveExample.mutationOptions(done));
  const replace = useMutation(trpc.routes.replaceExample.mutationOptions(done));
  const dropped = trial.headers
    .filter((header) => header.value !== '' && carriesCredential(header.name.trim()))
    .map((header) => header.name);
  const input = {
    id: routeId,
    name,
    method: trial.method as Example['method'],
    path: trial.path || '/',
    headers: trial.headers
      .filter((header) => header.name.trim() !== '')
      .map((header) => ({ name: header.name.trim(), value: carriesCredential(header.name.trim()) ? '' : header.value })),
    body: trial.body,
    assertions,
  };
  const busy = create.isPending || replace.isPending;
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (loaded) replace.mutate({ ...input, exampleId: loaded.id });
        else create.mutate(input);
      }}
    >
      <p className="font-mono text-ink-2 text-xs [overflow-wrap:anywhere]">
        {input.method} {input.path}
      </p>
      <Field label="Name">
        <Input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field group label="Assertions" hint="Checked against each response. JSON paths use names and indexes, such as data.items.0.id.">
        <AssertionEditor value={assertions} onChange={setAssertions} />
      </Field>
      {dropped.length > 0 && (
        <p className="text-ink-2">
          Saved without a value because it carries a credential: <span className="font-mono text-xs">{dropped.join(', ')}</span>. Inject it
          with a secret instead.
        </p>
      )}
      <MutationError error={create.error ?? replace.error} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" loading={busy}>
          {loaded ? `Update “${loaded.name}”` : 'Save'}
        </Button>
        {loaded && (
          <Button loading={busy} onClick={() => create.mutate(input)}>
            Save as new
          </Button>
        )}
      </div>
    </form>
  );
}

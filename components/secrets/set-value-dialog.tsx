'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { secretValue } from '#server/domain/secrets/schema.ts';
import { ValueInput } from './value-input.tsx';

export type SetValueTarget = {
  secret: { id: string; name: string };
  environment: { name: string; display_name: string };
  /** The version on the page, so that a value somebody else wrote meanwhile is not overwritten; undefined where none is known. */
  version?: number | undefined;
  /** Whether a value is there already. */
  replaces: boolean;
};

/** Writes one value. It never shows the present one: there is nothing to pre-fill. */
export function SetValueDialog({ target, onClose }: { target: SetValueTarget | undefined; onClose: () => void }) {
  return (
    <Dialog
      open={target !== undefined}
      onOpenChange={(open) => !open && onClose()}
      dismissible
      size="md"
      title={target && `${target.replaces ? 'Replace' : 'Set'} value of ${target.secret.name}`}
      description={
        target &&
        `In ${target.environment.display_name}. Used from the next call on. ${target.replaces ? 'You can restore the previous value for 24 hours.' : ''}`.trim()
      }
    >
      {target && <ValueForm key={`${target.secret.id}/${target.environment.name}`} target={target} onClose={onClose} />}
    </Dialog>
  );
}

function ValueForm({ target, onClose }: { target: SetValueTarget; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [value, setValue] = useState('');
  const [problem, setProblem] = useState<string>();
  const put = useMutation(
    trpc.secrets.putValue.mutationOptions({
      // The value must not stay in the cache of mutations after the dialog is gone.
      gcTime: 0,
      onSuccess: ({ value_version }) => {
        void queryClient.invalidateQueries(trpc.secrets.pathFilter());
        notifyDone(`${target.secret.name} updated in ${target.environment.display_name} (v${value_version})`);
        onClose();
      },
    }),
  );
  const save = () => {
    const checked = secretValue().safeParse(value);
    setProblem(checked.success ? undefined : checked.error.issues[0]?.message);
    if (!checked.success) return;
    put.mutate({
      id: target.secret.id,
      environment: target.environment.name,
      value,
      ...(target.version === undefined ? {} : { if_match: String(target.version) }),
    });
  };
  return (
    <form
      className="flex flex-col gap-4 pb-1"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) save();
      }}
    >
      <Field
        label="Value"
        required
        error={problem && sentence(problem)}
        hint="Encrypted when saved. Seeing it again takes a reveal, which is recorded."
      >
        <ValueInput hints value={value} onChange={setValue} />
      </Field>
      <MutationError error={put.error} />
      <ApiEquivalent method="PUT" path={`/secrets/${target.secret.id}/value`} body={{ environment: target.environment.name, value: '…' }} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" keys="mod+enter" loading={put.isPending}>
          {target.replaces ? 'Replace value' : 'Set value'}
        </Button>
      </div>
    </form>
  );
}

const sentence = (text: string) => `The value ${text}.`;

'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useShareReason } from './use-view-changes.ts';
import type { View } from './use-views.ts';

const Named = z.object({ name: z.string().trim().min(1, 'is required').max(60), shared: z.boolean(), is_default: z.boolean() });
const FORM = 'view-form';

export type SaveViewProps = {
  page: string;
  /** The view that gets another name; absent keeps what the list shows now as a new one. */
  view?: View | undefined;
  now: { query: string; columns: string[] };
  open: boolean;
  onClose: () => void;
};

/** Names a view, and says who sees it. */
export function SaveView({ view, open, onClose, ...rest }: SaveViewProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      title={view ? 'Rename view' : 'Save view'}
      description={view ? undefined : 'Saves the current filters, sort order, page size and columns.'}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter">
            Save
          </Button>
        </>
      }
    >
      {open && <Fields view={view} onClose={onClose} {...rest} />}
    </Dialog>
  );
}

function Fields({ page, view, now, onClose }: Omit<SaveViewProps, 'open'>) {
  const shareReason = useShareReason(page);
  const trpc = useTRPC();
  const cache = useQueryClient();
  const form = useZodForm({
    schema: Named,
    defaultValues: { name: view?.name ?? '', shared: view?.shared ?? false, is_default: view?.is_default ?? false },
  });
  const { refusal, refuse, clear } = useFormRefusal(form);
  const done = {
    onError: refuse,
    onSuccess: ({ name }: { name: string }) => {
      void cache.invalidateQueries(trpc.views.pathFilter());
      notifyDone(`View ${name} saved`);
      onClose();
    },
  };
  const create = useMutation(trpc.views.create.mutationOptions(done));
  const update = useMutation(trpc.views.update.mutationOptions(done));
  const values = form.watch();
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        if (view) update.mutate({ id: view.id, ...value });
        else create.mutate({ page, ...now, ...value });
      }}
    >
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input autoComplete="off" placeholder="Failing payments" {...form.register('name')} />
      </Field>
      <Checkbox
        checked={values.shared}
        disabled={shareReason !== undefined}
        onCheckedChange={(on) => form.setValue('shared', on, { shouldDirty: true })}
        label="Share with the workspace"
        description={shareReason ?? 'Everyone who can open this page sees it.'}
      />
      <Checkbox
        checked={values.is_default}
        onCheckedChange={(on) => form.setValue('is_default', on, { shouldDirty: true })}
        label="Set as default"
        description="This page opens with it, for you only."
      />
    </Form>
  );
}

'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { counted } from '#components/ui/numbers.ts';
import { notify, notifyDone } from '#components/ui/toaster.tsx';
import { DuplicateEnvironment } from '#server/domain/environments/schema.ts';
import { COLORS, type EnvironmentRow } from './environment-form.tsx';
import type { Used } from './use-usage.ts';

const FORM = 'duplicate-environment';
const Fields = DuplicateEnvironment.pick({ name: true, display_name: true, include_clients: true });

type Props = {
  environment: (EnvironmentRow & { used: Used | undefined }) | undefined;
  /** Colours of all environments: the copy gets one of its own. */
  colors: readonly string[];
  onClose: () => void;
};

/** Another environment in which every route does what it does in this one. */
export function DuplicateEnvironmentDialog({ environment, colors, onClose }: Props) {
  return (
    <Dialog
      open={environment !== undefined}
      onOpenChange={(open) => !open && onClose()}
      title={`Duplicate ${environment?.display_name ?? ''}`}
      size="md"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter">
            Duplicate
          </Button>
        </>
      }
    >
      {environment && (
        <DuplicateForm key={environment.id} source={environment} color={COLORS.find((one) => !colors.includes(one))} onClose={onClose} />
      )}
    </Dialog>
  );
}

type FormProps = { source: NonNullable<Props['environment']>; color: string | undefined; onClose: () => void };

function DuplicateForm({ source, color, onClose }: FormProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const form = useZodForm({ schema: Fields, defaultValues: { name: '', include_clients: false } });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  const duplicate = useMutation(
    trpc.environments.duplicate.mutationOptions({
      onError: refuse,
      onSuccess: async ({ name, display_name, copied, warnings }) => {
        notifyDone(`${display_name} created with ${counted(copied.routes, 'route')}`);
        for (const warning of warnings ?? []) notify(warning);
        await Promise.all(
          [trpc.environments, trpc.routes, trpc.clients, trpc.account].map((family) => cache.invalidateQueries(family.pathFilter())),
        );
        onClose();
        // What is left to do there is what the two do not have in common: values of secrets.
        if (copied.routes > 0) router.push(path(`/environments/compare?a=${source.name}&b=${name}`));
      },
    }),
  );
  const { include_clients } = form.watch();
  const { used } = source;
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      className="gap-4"
      aria-busy={duplicate.isPending || undefined}
      onSubmit={async (value) => {
        clear();
        await duplicate.mutateAsync({ id: source.id, ...value, ...(color ? { color } : {}) }).then(undefined, () => undefined);
      }}
    >
      {panel}
      <p className="text-ink-2">
        Copies {used ? counted(used.routes, 'route') : 'all routes'} with their settings. Secret values aren’t copied
        {used && used.secrets > 0 ? `, so ${counted(used.secrets, 'secret')} will need a value` : ''}.
      </p>
      <Field
        label="Name"
        required
        error={fieldError(form, 'name')}
        hint="Lowercase letters, digits, _ and -. Callers send it as X-Svc-Environment."
      >
        <Input mono autoComplete="off" placeholder={`${source.name}-eu`} {...form.register('name')} />
      </Field>
      <Field label="Display name" optional error={fieldError(form, 'display_name')}>
        <Input autoComplete="off" {...form.register('display_name', { setValueAs: (text: unknown) => text || undefined })} />
      </Field>
      <Checkbox
        checked={include_clients ?? false}
        onCheckedChange={(on) => form.setValue('include_clients', on, { shouldDirty: true })}
        label="Copy client assignments"
        description={
          used && used.clients > 0
            ? `Assigns ${counted(used.clients, 'client')}. Otherwise, routes that require a client refuse all calls.`
            : 'No clients are assigned.'
        }
      />
    </Form>
  );
}

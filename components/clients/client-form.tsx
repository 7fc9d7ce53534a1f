'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { LocateFixed } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useEffect, useState } from 'react';
import { z } from 'zod';
import { collectionOptions, NO_COLLECTION, namedCollection, useCollections } from '#components/secrets/use-environments.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { AddressNote, addressProblem } from './address-note.tsx';
import type { Detail } from './client-labels.ts';
import { currentAddress } from './current-address.ts';
import { notesOf, notesText } from './notes.ts';

const ClientForm = z.object({
  name: z.string().trim().min(1, 'Enter a name.').max(100),
  type: z.enum(['server', 'user']),
  ip_address: z.string().superRefine((text, context) => {
    const problem = text.trim() === '' ? 'Enter an IP address or range.' : addressProblem([text])?.replace(`${text}: `, '');
    if (problem) context.addIssue({ code: 'custom', message: problem });
  }),
  description: z.string().max(500),
  ip_notes: z.string().refine((text) => notesOf(text) !== undefined, 'Enter a JSON object, such as {"office": "Bern"}.'),
  collection_id: z.string(),
  enabled: z.boolean(),
});

type Props = {
  client?: Detail;
  /** Begin with the address this browser has. */
  mine?: boolean;
  open: boolean;
  onClose: () => void;
};

/** A machine or person that may call routes; one sheet for making and changing. */
export function ClientSheet({ client, mine = false, open, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title={client ? `Edit ${client.name}` : 'New client'}
      description={client ? undefined : 'A caller identified by its IP address.'}
    >
      {open && <FormOf client={client} mine={mine} onDone={onClose} />}
    </Sheet>
  );
}

const valuesOf = (client: Detail | undefined) => ({
  name: client?.name ?? '',
  type: client?.type ?? ('server' as const),
  ip_address: client?.ip_address ?? '',
  description: client?.description ?? '',
  ip_notes: notesText(client?.ip_notes),
  collection_id: client?.collection_id ?? NO_COLLECTION,
  enabled: client?.enabled ?? true,
});

function FormOf({ client, mine, onDone }: { client: Detail | undefined; mine: boolean; onDone: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const collections = useCollections();
  const form = useZodForm({
    schema: ClientForm,
    defaultValues: valuesOf(client),
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: client,
    values: valuesOf,
    labels: { ip_address: 'IP address', ip_notes: 'Notes' },
    show: namedCollection(collections),
    // An address that was filled in automatically is no draft.
    ...(mine ? {} : { draft: { name: `clients/${client?.id ?? 'new'}` } }),
    onNothingLeft: onDone,
  });
  useUnsavedGuard(form.formState.isDirty);
  const saved = (name: string, verb: string) => {
    forget();
    void queryClient.invalidateQueries(trpc.clients.pathFilter());
    void queryClient.invalidateQueries(trpc.account.pathFilter());
    notifyDone(`Client ${name} ${verb}`);
  };
  const create = useMutation(
    trpc.clients.create.mutationOptions({
      onError: refuse,
      onSuccess: ({ id, name }) => {
        saved(name, 'created');
        // It has no effect until it is assigned somewhere: that is the next step. In place of the open form, which Back must not show again.
        router.replace(path(`/clients/${id}?tab=routes`));
      },
    }),
  );
  const update = useMutation(
    trpc.clients.update.mutationOptions({
      onError: refuse,
      onSuccess: ({ name }) => {
        saved(name, 'saved');
        onDone();
      },
    }),
  );
  const { setValue } = form;
  useEffect(() => {
    if (!mine) return;
    setValue('type', 'user', { shouldDirty: true });
    void currentAddress().then((ip) => ip && setValue('ip_address', ip, { shouldDirty: true, shouldValidate: true }));
  }, [mine, setValue]);
  const values = form.watch();
  const submit = (value: z.output<typeof ClientForm>) => {
    clear();
    const input = {
      name: value.name,
      type: value.type,
      ip_address: value.ip_address.trim(),
      description: value.description || null,
      ip_notes: notesOf(value.ip_notes) ?? {},
      collection_id: value.collection_id === NO_COLLECTION ? null : value.collection_id,
      enabled: value.enabled,
    };
    if (client) update.mutate({ id: client.id, ...input, expected_updated_at: started() });
    else create.mutate(input);
  };
  return (
    <Form form={form} onSubmit={submit} refusal={refusal} className="grow">
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input placeholder="billing-worker" autoComplete="off" {...form.register('name')} />
      </Field>
      <Field group label="Type">
        <RadioCards
          columns={2}
          value={values.type}
          onValueChange={(type) => form.setValue('type', type, { shouldDirty: true })}
          options={[
            { value: 'server', title: 'Server', description: 'A service with a fixed IP address.' },
            { value: 'user', title: 'Person', description: 'A user whose IP address can change.' },
          ]}
        />
      </Field>
      <Field
        label="IP address or range"
        required
        error={fieldError(form, 'ip_address')}
        hint="An IPv4 or IPv6 address, or a CIDR range. You can add more later."
        action={<CurrentAddress onAddress={(ip) => form.setValue('ip_address', ip, { shouldDirty: true, shouldValidate: true })} />}
      >
        <Input mono placeholder="203.0.113.7" autoComplete="off" {...form.register('ip_address')} />
        <AddressNote text={values.ip_address} />
      </Field>
      <Field label="Collection">
        <Select
          options={collectionOptions(collections)}
          value={values.collection_id}
          onValueChange={(next) => form.setValue('collection_id', next, { shouldDirty: true })}
        />
      </Field>
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description')} />
      </Field>
      <Field
        label="Notes"
        optional
        error={fieldError(form, 'ip_notes')}
        hint="A JSON object with details about the address. Doesn’t affect access."
      >
        <Textarea mono rows={3} spellCheck={false} placeholder='{"office": "Bern", "provider": "…"}' {...form.register('ip_notes')} />
      </Field>
      <Checkbox
        checked={values.enabled}
        onCheckedChange={(enabled) => form.setValue('enabled', enabled, { shouldDirty: true })}
        label="On"
        description="When off, this client never matches a call."
      />
      <ApiEquivalent
        method={client ? 'PATCH' : 'POST'}
        path={client ? `/clients/${client.id}` : '/clients'}
        body={{ name: values.name || 'NAME', type: values.type, ip_address: values.ip_address || '203.0.113.7' }}
      />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onDone}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={create.isPending || update.isPending}
            disabledReason={client && !form.formState.isDirty ? 'No changes to save' : undefined}
          >
            {client ? 'Save' : 'Create client'}
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}

/** Fills in the address this browser is seen with, as the session plane recorded it. */
export function CurrentAddress({ onAddress }: { onAddress: (ip: string) => void }) {
  const [state, setState] = useState<'idle' | 'asking' | 'unknown'>('idle');
  const ask = async () => {
    setState('asking');
    const ip = await currentAddress();
    setState(ip ? 'idle' : 'unknown');
    if (ip) onAddress(ip);
  };
  return (
    <Button size="sm" variant="ghost" icon={<LocateFixed />} loading={state === 'asking'} onClick={() => void ask()}>
      {state === 'unknown' ? 'Your IP address is unknown' : 'Use my IP address'}
    </Button>
  );
}

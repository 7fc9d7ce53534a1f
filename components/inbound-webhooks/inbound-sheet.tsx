'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { CopyButton } from '#components/ui/copy.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm, type ZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { onceOnly, ShownOnce } from '#components/ui/shown-once.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { FORMATS, REPEATABLE, TIMED } from '#server/domain/inbound-webhooks/formats.shared.ts';
import { EMPTY, InboundFields, inputOf, TARGETS, valuesOf } from './inbound-fields.ts';
import { errorText, FORMAT_LABELS, type InboundRow } from './inbound-labels.ts';

const FORM = 'inbound-webhook-form';
const LABELS = {
  ...{ name: 'Name', description: 'Description', format: 'Signed by', header_name: 'Header', enabled: 'On' },
  ...{ replay_window_seconds: 'Replay window', allow_duplicates: 'Forward duplicates', forward_url: 'URL', forward_route_id: 'Route' },
};

type SheetProps = { open: boolean; receiver: InboundRow | undefined; onClose: () => void };
type Made = { secret: string; url: string };

/** Makes or changes a receiver. A secret that the service made is shown once. */
export function InboundSheet({ open, receiver, onClose }: SheetProps) {
  const forbidden = useForbidden(receiver ? 'inbound_webhook:update' : 'inbound_webhook:create');
  const [dirty, setDirty] = useUnsavedIn(open);
  const [made, setMade] = useState<Made>();
  return (
    <>
      <Sheet
        open={open && !made}
        onOpenChange={(next) => next || onClose()}
        title={receiver ? receiver.name : 'New inbound webhook'}
        description={receiver ? undefined : 'Who sends, how it signs, and where verified calls go.'}
        size="sm"
        dismissible={!dirty}
        footer={
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={forbidden}>
              {receiver ? 'Save' : 'Create inbound webhook'}
            </Button>
          </>
        }
      >
        {open && !made && (
          <>
            {receiver && <About receiver={receiver} />}
            <Fields
              key={receiver?.id ?? 'new'}
              receiver={receiver}
              onDirty={setDirty}
              onMade={setMade}
              onDone={() => {
                setDirty(false);
                onClose();
              }}
            />
          </>
        )}
      </Sheet>
      <ShownOnce
        value={made?.secret}
        title="Inbound webhook created"
        label="secret"
        description={`Enter it at the sender, with the address ${made?.url ?? ''}. ${onceOnly('secret')}`}
        filename="inbound-webhook-secret.txt"
        onGone={() => {
          setMade(undefined);
          onClose();
        }}
      />
    </>
  );
}

function About({ receiver: { url, last_error } }: { receiver: InboundRow }) {
  return (
    <div className="mb-4 flex flex-col gap-1">
      <span className="text-ink-2">Address for the sender</span>
      <span className="flex items-start gap-2">
        <span className="min-w-0 break-all font-mono text-xs">{url}</span>
        <CopyButton value={url} label="Copy address" />
      </span>
      {last_error && <span className="text-ink-2">Last call: {errorText(last_error)}</span>}
    </div>
  );
}

type FieldsProps = {
  receiver: InboundRow | undefined;
  onDirty: (dirty: boolean) => void;
  onMade: (made: Made) => void;
  onDone: () => void;
};

function Fields({ receiver, onDirty, onMade, onDone }: FieldsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const form = useZodForm({ schema: InboundFields, defaultValues: receiver ? valuesOf(receiver) : EMPTY });
  // Without a draft: what is typed here may be a secret.
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, {
    row: receiver,
    values: valuesOf,
    labels: LABELS,
    onNothingLeft: onDone,
  });
  const refresh = () =>
    Promise.all([
      cache.invalidateQueries(trpc.inboundWebhooks.pathFilter()),
      ...(receiver ? [] : [cache.invalidateQueries(trpc.account.pathFilter())]),
    ]);
  const create = useMutation(
    trpc.inboundWebhooks.create.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: async ({ name, url, secret_key }) => {
        onDirty(false);
        if (secret_key !== null) onMade({ secret: secret_key, url });
        else notifyDone(`${name} created. Give the sender its address.`);
        await refresh();
        if (secret_key === null) onDone();
      },
    }),
  );
  const update = useMutation(
    trpc.inboundWebhooks.update.mutationOptions({
      onError: refuse,
      onSuccess: async () => {
        notifyDone('Saved');
        await refresh();
        onDone();
      },
    }),
  );
  useUnsavedGuard(form.formState.isDirty, onDirty);
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (values) => {
        clear();
        const call = receiver
          ? update.mutateAsync({ id: receiver.id, ...inputOf(values), expected_updated_at: started() })
          : create.mutateAsync({ ...inputOf(values), ...(values.secret === '' ? {} : { secret: values.secret }) });
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')} hint="The last part of its address.">
        <Input mono placeholder="payments" autoComplete="off" spellCheck={false} {...form.register('name')} />
      </Field>
      <SenderFields form={form} creating={receiver === undefined} />
      <TargetFields form={form} />
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description')} />
      </Field>
      <Checkbox
        checked={form.watch('enabled')}
        onCheckedChange={(on) => form.setValue('enabled', on, { shouldDirty: true })}
        label="On"
        description="While it is off, senders get 404."
      />
    </Form>
  );
}

type PartProps = { form: ZodForm<InboundFields, InboundFields> };

function SenderFields({ form, creating }: PartProps & { creating: boolean }) {
  const { format } = form.watch();
  return (
    <>
      <Field label="Signed by">
        <Select
          options={FORMATS.map((value) => ({ value, label: FORMAT_LABELS[value].label }))}
          value={format}
          onValueChange={(value) => form.setValue('format', value, { shouldDirty: true })}
        />
      </Field>
      {format === 'custom' && (
        <Field label="Header" required error={fieldError(form, 'header_name')} hint="It carries HMAC-SHA256 of the body in hex.">
          <Input mono placeholder="X-Acme-Signature" autoComplete="off" {...form.register('header_name')} />
        </Field>
      )}
      {creating && (
        <Field
          label="Secret"
          optional
          error={fieldError(form, 'secret')}
          hint={`${FORMAT_LABELS[format].secret} Leave empty to have one made.`}
        >
          <SecretInput {...form.register('secret')} />
        </Field>
      )}
      {REPEATABLE.has(format) && (
        <Checkbox
          checked={form.watch('allow_duplicates')}
          onCheckedChange={(on) => form.setValue('allow_duplicates', on, { shouldDirty: true })}
          label="Forward duplicates"
          description={DUPLICATES[TIMED.has(format) ? 'timed' : 'untimed']}
        />
      )}
      {TIMED.has(format) && (
        <Field
          label="Replay window in seconds"
          error={fieldError(form, 'replay_window_seconds')}
          hint="Calls signed longer ago are refused."
        >
          <Input inputMode="numeric" className="w-28" {...form.register('replay_window_seconds')} />
        </Field>
      )}
    </>
  );
}

const DUPLICATES = {
  timed: 'Turn on to get every try of the sender, also after a 2xx. A recorded call can then be repeated within the replay window.',
  untimed: 'Turn on only if the sender posts the same body for different events. A recorded call can then be repeated at any time.',
};

const TARGET_LABELS = { url: 'A URL', route: 'A route', none: 'Nowhere' } as const;

function TargetFields({ form }: PartProps) {
  const trpc = useTRPC();
  const hidden = useForbidden('route:list');
  const { target, forward_route_id } = form.watch();
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }, { enabled: target === 'route' && !hidden }));
  return (
    <>
      <Field group label="Verified calls go to" hint={target === 'none' ? 'They are answered with 200 and counted.' : undefined}>
        <RadioCards
          columns={3}
          value={target}
          onValueChange={(value) => form.setValue('target', value, { shouldDirty: true })}
          options={TARGETS.map((value) => ({ value, title: TARGET_LABELS[value] }))}
        />
      </Field>
      {target === 'url' && (
        <Field label="URL" error={fieldError(form, 'forward_url')} hint="Gets the same body, marked X-Svc-Verified: true.">
          <Input mono inputMode="url" placeholder="https://app.example.com/hooks" spellCheck={false} {...form.register('forward_url')} />
        </Field>
      )}
      {target === 'route' && (
        <Field label="Route" error={hidden ?? fieldError(form, 'forward_route_id')} hint="Its limits, policies and secrets apply.">
          <Select
            value={forward_route_id}
            onValueChange={(id) => form.setValue('forward_route_id', id, { shouldDirty: true })}
            options={[
              { value: '', label: 'Choose a route' },
              ...(routes.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        </Field>
      )}
    </>
  );
}

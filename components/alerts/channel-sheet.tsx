'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { CHANNEL_KINDS, DEFAULT_URLS, KIND_LABELS, PAID_KINDS } from '#server/domain/alert-channels/kinds.shared.ts';
import { channelValues, inputOf, needs, newChannel, takes, valuesOf } from './channel-values.ts';
import { CHANNEL_HINTS, type ChannelRow } from './labels.ts';

const FORM = 'alert-channel-form';
const LABELS = {
  name: 'Name',
  recipients: 'Recipients',
  url: 'URL',
  token: 'Key',
  signing_secret: 'Signing secret',
  quiet_hours: 'Quiet hours',
  enabled: 'On',
};

type SheetProps = { open: boolean; channel: ChannelRow | undefined; onClose: () => void };

/** Makes or changes a channel. Its kind stays what it is. */
export function ChannelSheet({ open, channel, onClose }: SheetProps) {
  const cannotCreate = useForbidden('alert:create');
  const cannotUpdate = useForbidden('alert:update');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={channel ? channel.name : 'New channel'}
      size="sm"
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={channel ? cannotUpdate : cannotCreate}>
            {channel ? 'Save' : 'Create channel'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          key={channel?.id ?? 'new'}
          channel={channel}
          onDirty={setDirty}
          onDone={() => {
            setDirty(false);
            onClose();
          }}
        />
      )}
    </Sheet>
  );
}

type FieldsProps = { channel: ChannelRow | undefined; onDirty: (dirty: boolean) => void; onDone: () => void };

function Fields({ channel, onDirty, onDone }: FieldsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const notInPlan = useFeatureReason('sms_slack_alerts');
  const [zone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [schema] = useState(() => channelValues(!channel));
  // Without a draft: what is typed here may be a credential.
  const form = useZodForm({ schema, defaultValues: channel ? valuesOf(channel, zone) : newChannel(zone) });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, {
    row: channel,
    values: (row) => valuesOf(row, zone),
    labels: LABELS,
    onNothingLeft: onDone,
  });
  const saved = async (row: { name: string }) => {
    notifyDone(channel ? 'Saved' : `${row.name} created. Send a test message next.`);
    await cache.invalidateQueries(trpc.alertChannels.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.alertChannels.create.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.alertChannels.update.mutationOptions({ onSuccess: saved, onError: refuse }));
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const { kind, quiet, timezone, except_critical, enabled } = form.watch();
  const kept = channel ? 'Leave empty to keep the one in use.' : 'It is encrypted and never shown again.';
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (values) => {
        clear();
        const call = channel
          ? update.mutateAsync({ id: channel.id, ...inputOf(values), expected_updated_at: started() })
          : create.mutateAsync({ ...inputOf(values), kind: values.kind });
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      {!channel && (
        <Field label="Kind" hint={PAID_KINDS.includes(kind) && notInPlan ? notInPlan : CHANNEL_HINTS[kind]}>
          <Select
            options={CHANNEL_KINDS.map((value) => ({ value, label: KIND_LABELS[value] }))}
            value={kind}
            onValueChange={(value) => form.setValue('kind', value, { shouldDirty: true })}
          />
        </Field>
      )}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input placeholder="On-call" autoComplete="off" {...form.register('name')} />
      </Field>
      {takes(kind, 'recipients') && (
        <Field
          label={kind === 'sms' ? 'Phone numbers' : 'Email addresses'}
          required
          error={fieldError(form, 'recipients')}
          hint="Separated by commas."
        >
          <Textarea rows={2} autoComplete="off" spellCheck={false} {...form.register('recipients')} />
        </Field>
      )}
      {takes(kind, 'url') && (
        <Field
          label="URL"
          required={!channel && needs(kind, 'url')}
          optional={!needs(kind, 'url')}
          error={fieldError(form, 'url')}
          hint={
            channel
              ? `Leave empty to keep the one at ${channel.host ?? 'its host'}.`
              : needs(kind, 'url')
                ? kept
                : 'Only for another region.'
          }
        >
          <SecretInput placeholder={DEFAULT_URLS[kind] ?? 'https://…'} {...form.register('url')} />
        </Field>
      )}
      {takes(kind, 'token') && (
        <Field
          label={kind === 'pagerduty' ? 'Integration key' : 'API key'}
          required={!channel && needs(kind, 'token')}
          error={fieldError(form, 'token')}
          hint={kept}
        >
          <SecretInput {...form.register('token')} />
        </Field>
      )}
      {takes(kind, 'signing_secret') && (
        <Field
          label="Signing secret"
          required={!channel && needs(kind, 'signing_secret')}
          error={fieldError(form, 'signing_secret')}
          hint={`At least 24 characters. ${kept}`}
        >
          <SecretInput {...form.register('signing_secret')} />
        </Field>
      )}
      <Checkbox
        checked={quiet}
        onCheckedChange={(on) => form.setValue('quiet', on, { shouldDirty: true })}
        label="Quiet hours"
        description="Messages of these hours wait until they end."
      />
      {quiet && (
        <>
          <div className="grid grid-cols-2 gap-3">
            <Field label="From" error={fieldError(form, 'quiet_from')}>
              <Input type="time" {...form.register('quiet_from')} />
            </Field>
            <Field label="Until" error={fieldError(form, 'quiet_to')}>
              <Input type="time" {...form.register('quiet_to')} />
            </Field>
          </div>
          <Field label="Time zone" error={fieldError(form, 'timezone')} hint={timezone === zone ? 'Yours.' : undefined}>
            <Input mono autoComplete="off" {...form.register('timezone')} />
          </Field>
          <Checkbox
            checked={except_critical}
            onCheckedChange={(on) => form.setValue('except_critical', on, { shouldDirty: true })}
            label="Tell critical incidents all the same"
          />
        </>
      )}
      <Checkbox
        checked={enabled}
        onCheckedChange={(on) => form.setValue('enabled', on, { shouldDirty: true })}
        label="On"
        description="A channel that is off is told nothing."
      />
    </Form>
  );
}

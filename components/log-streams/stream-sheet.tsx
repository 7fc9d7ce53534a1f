'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
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
import { STREAM_KINDS, STREAM_SOURCES } from '#server/domain/log-streams/schema.ts';
import { inputOf, StreamFields, valuesOf } from './stream-fields.ts';
import { ENDPOINT_HINTS, KIND_LABELS, SOURCE_LABELS, type StreamRow } from './stream-labels.ts';

const FORM = 'log-stream-form';
const LABELS = { name: 'Name', endpoint: 'Endpoint', region: 'Region', prefix: 'Folder', access_key_id: 'Access key ID', enabled: 'On' };
const NEW: StreamFields = {
  ...{ name: '', source: 'audit', kind: 'https', endpoint: '', headers: '', token: '', region: '', prefix: '' },
  ...{ access_key_id: '', secret_access_key: '', enabled: true },
};

type SheetProps = { open: boolean; stream: StreamRow | undefined; onClose: () => void };

/** Makes or changes a log stream. Source and kind stay what they are. */
export function StreamSheet({ open, stream, onClose }: SheetProps) {
  const forbidden = useForbidden('log_stream:manage');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={stream ? stream.name : 'New log stream'}
      description={stream ? undefined : 'It starts with what happens from now on.'}
      size="sm"
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={forbidden}>
            {stream ? 'Save' : 'Create log stream'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          key={stream?.id ?? 'new'}
          stream={stream}
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

type FieldsProps = { stream: StreamRow | undefined; onDirty: (dirty: boolean) => void; onDone: () => void };

function Fields({ stream, onDirty, onDone }: FieldsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const form = useZodForm({ schema: StreamFields, defaultValues: stream ? valuesOf(stream) : NEW });
  // Without a draft: what is typed here may be a credential.
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, {
    row: stream,
    values: valuesOf,
    labels: LABELS,
    onNothingLeft: onDone,
  });
  const saved = async (row: { name: string }) => {
    notifyDone(stream ? 'Saved' : `${row.name} created. Send a test record next.`);
    await cache.invalidateQueries(trpc.logStreams.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.logStreams.create.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.logStreams.update.mutationOptions({ onSuccess: saved, onError: refuse }));
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const { kind, source, enabled } = form.watch();
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (value) => {
        clear();
        const call = stream
          ? update.mutateAsync({ id: stream.id, ...inputOf(value), expected_updated_at: started() })
          : create.mutateAsync({ ...inputOf(value), kind: value.kind, source: value.source });
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input placeholder="SIEM" {...form.register('name')} />
      </Field>
      {!stream && (
        <>
          <Field label="What is sent" hint="Calls are sent without their bodies.">
            <Select
              options={STREAM_SOURCES.map((value) => ({ value, label: SOURCE_LABELS[value] }))}
              value={source}
              onValueChange={(value) => {
                form.setValue('source', value, { shouldDirty: true });
                if (value === 'traces') form.setValue('kind', 'otlp', { shouldDirty: true });
              }}
            />
          </Field>
          <Field label="Destination">
            <Select
              options={STREAM_KINDS.filter((value) => source !== 'traces' || value === 'otlp').map((value) => ({
                value,
                label: KIND_LABELS[value],
              }))}
              value={kind}
              onValueChange={(value) => form.setValue('kind', value, { shouldDirty: true })}
            />
          </Field>
        </>
      )}
      <Field label="Endpoint" required error={fieldError(form, 'endpoint')} hint={ENDPOINT_HINTS[kind].hint}>
        <Input mono inputMode="url" placeholder={ENDPOINT_HINTS[kind].placeholder} {...form.register('endpoint')} />
      </Field>
      {(kind === 'https' || kind === 'otlp') && (
        <Field
          label="Headers"
          optional
          error={fieldError(form, 'headers')}
          hint={stream ? keptHint(stream) : 'One per line. Values are encrypted and never shown again.'}
        >
          <Textarea
            mono
            rows={3}
            autoComplete="off"
            spellCheck={false}
            placeholder="Authorization: Bearer …"
            {...form.register('headers')}
          />
        </Field>
      )}
      {(kind === 'splunk' || kind === 'datadog') && (
        <Field
          label={kind === 'splunk' ? 'Token' : 'API key'}
          required={!stream}
          error={fieldError(form, 'token')}
          hint={stream ? 'Leave empty to keep the one in use.' : undefined}
        >
          <SecretInput {...form.register('token')} />
        </Field>
      )}
      {kind === 's3' && (
        <>
          <Field label="Region" required error={fieldError(form, 'region')}>
            <Input mono placeholder="eu-west-1" {...form.register('region')} />
          </Field>
          <Field label="Folder" optional error={fieldError(form, 'prefix')}>
            <Input mono placeholder="logs/gateway" {...form.register('prefix')} />
          </Field>
          <Field label="Access key ID" required error={fieldError(form, 'access_key_id')} hint="It only needs s3:PutObject.">
            <Input mono {...form.register('access_key_id')} />
          </Field>
          <Field
            label="Secret access key"
            required={!stream}
            error={fieldError(form, 'secret_access_key')}
            hint={stream ? 'Leave empty to keep the one in use.' : undefined}
          >
            <SecretInput {...form.register('secret_access_key')} />
          </Field>
        </>
      )}
      <Checkbox
        checked={enabled}
        onCheckedChange={(on) => form.setValue('enabled', on, { shouldDirty: true })}
        label="On"
        description="Turned on again, a stream continues where it stopped."
      />
    </Form>
  );
}

const keptHint = ({ header_names }: StreamRow) =>
  header_names.length === 0 ? 'One per line.' : `Leave empty to keep ${header_names.join(', ')}. Otherwise enter all of them again.`;

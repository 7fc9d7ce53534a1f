'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { listOf } from '#components/secrets/secret-text.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { type Detail, inUnits, nameInPath, UNIT_NAMES, UNITS } from './vault-labels.ts';

const EditVault = z.object({
  description: z.string().max(1_000),
  ttl: z.string().regex(/^$|^[1-9][0-9]{0,8}$/, 'must be a whole number'),
  ttl_unit: z.enum(UNIT_NAMES),
  allowed_hosts: z.string(),
  metadata_jsonb: z.string().refine((text) => parsedObject(text) !== undefined, 'must be a JSON object'),
});
type Values = z.output<typeof EditVault>;

const LABELS = {
  description: 'Description',
  ttl: 'Tokens expire after',
  ttl_unit: 'Unit',
  allowed_hosts: 'Hosts',
  metadata_jsonb: 'Metadata',
};

function valuesOf(vault: Pick<Detail, 'description' | 'default_ttl_seconds' | 'allowed_hosts' | 'metadata_jsonb'>): Values {
  const { amount, unit } = inUnits(vault.default_ttl_seconds ?? 0);
  const never = vault.default_ttl_seconds === null;
  return {
    description: vault.description ?? '',
    ttl: never ? '' : String(amount),
    ttl_unit: never ? 'day' : unit,
    allowed_hosts: (vault.allowed_hosts ?? []).join('\n'),
    metadata_jsonb: Object.keys(vault.metadata_jsonb).length === 0 ? '' : JSON.stringify(vault.metadata_jsonb, null, 2),
  };
}

const secondsOf = ({ ttl, ttl_unit }: Pick<Values, 'ttl' | 'ttl_unit'>) => (ttl === '' ? null : Number(ttl) * UNITS[ttl_unit]);

function parsedObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value = parseExact(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The fields that differ from the vault as it was. */
function changesOf(value: Values, before: Values) {
  const hosts = listOf(value.allowed_hosts);
  return {
    ...(value.description === before.description ? {} : { description: value.description || null }),
    ...(secondsOf(value) === secondsOf(before) ? {} : { default_ttl_seconds: secondsOf(value) }),
    ...(value.allowed_hosts === before.allowed_hosts ? {} : { allowed_hosts: hosts.length === 0 ? null : hosts }),
    ...(value.metadata_jsonb === before.metadata_jsonb ? {} : { metadata_jsonb: parsedObject(value.metadata_jsonb) ?? {} }),
  };
}

type Props = { open: boolean; vault: Detail; onClose: () => void };

/** Changes a vault. */
export function EditVaultSheet({ open, vault, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title={`Edit ${vault.name}`}
      description="Name, format and custody can’t be changed."
    >
      {open && <EditForm vault={vault} onClose={onClose} />}
    </Sheet>
  );
}

function EditForm({ vault, onClose }: Omit<Props, 'open'>) {
  const { space } = useScope();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('vault:update');
  const form = useZodForm({ schema: EditVault, defaultValues: valuesOf(vault) });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, { row: vault, values: valuesOf, labels: LABELS });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.vaults.update.mutationOptions({
      onError: refuse,
      onSuccess: async () => {
        await queryClient.invalidateQueries(trpc.vaults.pathFilter());
        notifyDone('Vault saved');
        onClose();
      },
    }),
  );
  const values = form.watch();
  const before = valuesOf(vault);
  const readOnly = forbidden !== undefined;
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={(value) => {
        clear();
        update.mutate({ vault: vault.id, ...changesOf(value, before), expected_updated_at: started() });
      }}
      className="grow"
    >
      {panel}
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} readOnly={readOnly} {...form.register('description')} />
      </Field>
      {vault.token_format !== 'ff1' && (
        <Field
          label="Tokens expire after"
          optional
          error={fieldError(form, 'ttl')}
          hint="Applies to new tokens, and at least a minute. Leave empty to keep them until they’re deleted."
        >
          <div className="flex gap-2">
            <Input inputMode="numeric" placeholder="365" readOnly={readOnly} className="w-28" {...form.register('ttl')} />
            <Select
              label="Unit"
              className="w-32"
              disabled={readOnly}
              options={UNIT_NAMES.map((unit) => ({ value: unit, label: `${unit}s` }))}
              value={values.ttl_unit}
              onValueChange={(unit) => form.setValue('ttl_unit', unit, { shouldDirty: true })}
            />
          </div>
        </Field>
      )}
      <Field
        label="Hosts"
        optional
        error={fieldError(form, 'allowed_hosts')}
        hint="One per line, such as api.example.com or *.example.com. The proxy sends values only there. Leave empty for any. To add hosts to a list that is set, confirm it’s you."
      >
        <Textarea mono rows={2} readOnly={readOnly} placeholder="api.example.com" {...form.register('allowed_hosts')} />
      </Field>
      <Field
        label="Metadata"
        optional
        error={fieldError(form, 'metadata_jsonb')}
        hint="A JSON object of up to 4 KiB, kept in clear. Never put values there."
      >
        <Textarea mono rows={3} readOnly={readOnly} placeholder='{"owner": "payments"}' {...form.register('metadata_jsonb')} />
      </Field>
      <ApiEquivalent method="PATCH" path={`/vaults/${nameInPath(vault)}`} body={changesOf(values, before)} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={update.isPending}
            disabledReason={forbidden ?? (dirty ? undefined : 'No changes to save')}
          >
            Save
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}

'use client';

import { useState } from 'react';
import { Field } from '#components/ui/field.tsx';
import type { ZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import type { ProviderName } from '#server/domain/trust-bindings/providers.shared.ts';
import type { BindingValues } from './binding-fields.ts';
import { linesOf } from './claim-lines.ts';
import { PRESETS, type PresetField } from './presets.ts';

/** The questions of a platform. Their answers fill in subject and claims below, where they can be changed. */
export function PresetFields({ form, provider }: { form: ZodForm<BindingValues, BindingValues>; provider: ProviderName }) {
  const preset = PRESETS[provider];
  const [values, setValues] = useState<Record<string, string>>(() => startOf(preset?.fields ?? []));
  if (!preset) return null;
  const change = (name: string, value: string) => {
    const next = { ...values, [name]: value };
    setValues(next);
    const { subject, claims } = preset.build(next);
    const shouldValidate = form.formState.isSubmitted;
    form.setValue('subject', subject, { shouldDirty: true, shouldValidate });
    form.setValue('claims', linesOf(claims), { shouldDirty: true, shouldValidate });
  };
  return (
    <div className="grid gap-4 rounded-lg border border-line bg-subtle p-3 sm:grid-cols-2">
      {preset.fields
        .filter(({ when }) => !when || when.includes(values.where ?? ''))
        .map(({ name, label, placeholder, hint, options }) => (
          <Field key={name} label={label} hint={hint}>
            {options ? (
              <Select options={options} value={values[name] ?? null} onValueChange={(value) => change(name, value)} />
            ) : (
              <Input mono placeholder={placeholder} value={values[name] ?? ''} onChange={(event) => change(name, event.target.value)} />
            )}
          </Field>
        ))}
    </div>
  );
}

const startOf = (fields: readonly PresetField[]): Record<string, string> =>
  Object.fromEntries(fields.flatMap(({ name, options }) => (options?.[0] ? [[name, options[0].value]] : [])));

'use client';

import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { Combobox, MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { fieldError, type ZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { keyOf, type Setting, type SettingValues } from './settings-fields.ts';
import type { AgentOptions } from './use-agent-options.ts';

type FieldProps = {
  setting: Setting;
  form: ZodForm<SettingValues, SettingValues>;
  value: SettingValues[string];
  options: Partial<AgentOptions> | undefined;
  disabled: boolean;
};

/** One setting with the control of its kind. */
export function SettingField({ setting, form, value, options, disabled }: FieldProps) {
  const key = keyOf(setting.name);
  const set = (next: SettingValues[string]) => form.setValue(key, next, { shouldDirty: true });
  const text = typeof value === 'string' ? value : '';
  const shared = { label: setting.label, hint: setting.hint, error: fieldError(form, key) };
  switch (setting.kind) {
    case 'flag':
      return (
        <Checkbox label={setting.label} description={setting.hint} checked={value === true} onCheckedChange={set} disabled={disabled} />
      );
    case 'choice': {
      const choices = [...(setting.empty === undefined ? [] : [{ value: '', title: setting.empty }]), ...setting.options];
      if (choices.some(({ description }) => description !== undefined))
        return (
          <Field group {...shared}>
            <RadioCards
              columns={2}
              value={text}
              onValueChange={set}
              options={choices.map((one) => ({ ...one, description: one.description ?? '' }))}
            />
          </Field>
        );
      return (
        <Field {...shared}>
          <Select
            className="sm:w-72"
            disabled={disabled}
            value={text}
            onValueChange={set}
            options={choices.map(({ value: of, title }) => ({ value: of, label: title }))}
          />
        </Field>
      );
    }
    case 'one':
      return (
        <Field {...shared}>
          <Combobox
            options={options?.[setting.from] ?? []}
            value={text === '' ? null : text}
            onValueChange={(next) => set(next ?? '')}
            placeholder={setting.empty}
            disabled={disabled}
          />
        </Field>
      );
    case 'many':
      return (
        <Field {...shared}>
          <MultiCombobox
            options={options?.[setting.from] ?? []}
            values={Array.isArray(value) ? value : []}
            onValuesChange={set}
            placeholder={setting.empty}
            disabled={disabled}
          />
        </Field>
      );
    case 'area':
    case 'lines':
    case 'pairs':
    case 'json':
      return (
        <Field {...shared}>
          <Textarea
            mono={setting.kind !== 'area'}
            rows={setting.kind === 'json' ? 8 : 3}
            readOnly={disabled}
            placeholder={setting.placeholder}
            {...form.register(key)}
          />
        </Field>
      );
    default: {
      const figure = setting.kind !== 'text';
      return (
        <Field {...shared}>
          <Input
            inputMode={setting.kind === 'integer' ? 'numeric' : setting.kind === 'decimal' ? 'decimal' : undefined}
            mono={setting.kind === 'text' && setting.mono}
            suffix={figure ? setting.suffix : undefined}
            placeholder={setting.placeholder}
            readOnly={disabled}
            autoComplete="off"
            className={figure ? 'sm:w-56' : undefined}
            {...form.register(key)}
          />
        </Field>
      );
    }
  }
}

'use client';

import { CornerUpLeft, PencilLine } from 'lucide-react';
import type { ReactNode } from 'react';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import type { Config, ConfigField } from './config-draft.ts';
import type { ConfigEditor } from './use-config-editor.ts';

export type SettingProps<F extends ConfigField> = {
  editor: ConfigEditor;
  field: F;
  label: ReactNode;
  hint?: ReactNode;
  /** Several controls under one question. */
  group?: boolean;
  children: (control: { value: Config[F]; set: (value: Config[F]) => void; disabled: boolean }) => ReactNode;
};

/** One setting of an environment. On an override it shows the base's value greyed until it is overridden, and can go back to it. */
export function Setting<F extends ConfigField>({ editor, field, label, hint, group, children }: SettingProps<F>) {
  const named = useEnvironmentLabel();
  const origin = editor.origin(field);
  const edited = field in editor.draft;
  const disabled = editor.readOnly !== undefined || origin === 'inherited';
  const plain = typeof label === 'string' ? label.toLowerCase() : field;
  return (
    <Field
      label={
        <span className="inline-flex flex-wrap items-center gap-2">
          {label}
          {edited && <Badge tone="accent">Unsaved</Badge>}
          {origin === 'inherited' && <Badge>Inherited from {named(editor.baseName)}</Badge>}
        </span>
      }
      hint={hint}
      error={editor.error(field)}
      group={group ?? false}
      action={
        editor.readOnly ? undefined : origin === 'inherited' ? (
          <Button
            size="sm"
            variant="ghost"
            icon={<PencilLine />}
            aria-label={`Override: ${plain}`}
            onClick={() => editor.set(field, editor.value(field))}
          >
            Override
          </Button>
        ) : origin === 'overridden' ? (
          <Button
            size="sm"
            variant="ghost"
            icon={<CornerUpLeft />}
            aria-label={`Revert to ${editor.baseName}: ${plain}`}
            onClick={() => editor.revert(field)}
          >
            Revert to {editor.baseName}
          </Button>
        ) : undefined
      }
    >
      <div className="min-w-0">{children({ value: editor.value(field), set: (value) => editor.set(field, value), disabled })}</div>
    </Field>
  );
}

export type NumberInputProps = {
  value: number | null;
  onChange: (value: number | null) => void;
  disabled: boolean;
  suffix?: string;
  min: number;
  max: number;
  placeholder?: string;
};

/** A whole number with its unit; empty is null. */
export function NumberInput({ value, onChange, disabled, suffix, min, max, placeholder }: NumberInputProps) {
  return (
    <Input
      type="number"
      inputMode="numeric"
      min={min}
      max={max}
      value={value ?? ''}
      placeholder={placeholder}
      suffix={suffix && <span className="whitespace-nowrap text-xs">{suffix}</span>}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value === '' ? null : Math.trunc(event.target.valueAsNumber))}
      className="max-w-56"
    />
  );
}

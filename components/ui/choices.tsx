'use client';

import { Checkbox as BaseCheckbox } from '@base-ui/react/checkbox';
import { Radio } from '@base-ui/react/radio';
import { RadioGroup } from '@base-ui/react/radio-group';
import { Switch as BaseSwitch } from '@base-ui/react/switch';
import { Check, Minus } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { cn } from './cn.ts';
import { useFieldLabelId } from './field.tsx';
import { DisabledReason } from './tooltip.tsx';

type ToggleProps = {
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  label: ReactNode;
  /** One sentence under the label. */
  description?: ReactNode;
  disabled?: boolean | undefined;
  name?: string;
  /** The label is only for screen readers (table cells). */
  hideLabel?: boolean;
  className?: string;
};

export type CheckboxProps = ToggleProps & { indeterminate?: boolean };

export function Checkbox({
  checked,
  onCheckedChange,
  indeterminate,
  label,
  description,
  disabled,
  name,
  hideLabel,
  className,
}: CheckboxProps) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox inside renders the control.
    <label className={cn('flex items-start gap-2', hideLabel && 'p-1', disabled && 'text-ink-3', className)}>
      <BaseCheckbox.Root
        checked={checked}
        onCheckedChange={onCheckedChange}
        indeterminate={indeterminate}
        disabled={disabled}
        name={name}
        aria-labelledby={`${id}-label`}
        aria-describedby={description ? id : undefined}
        className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-xs border border-line-control bg-surface text-on-accent transition-colors data-checked:border-accent data-indeterminate:border-accent data-checked:bg-accent data-indeterminate:bg-accent data-disabled:opacity-55"
      >
        <BaseCheckbox.Indicator className="flex data-unchecked:hidden">
          {indeterminate ? (
            <Minus aria-hidden className="size-3" strokeWidth={3} />
          ) : (
            <Check aria-hidden className="size-3" strokeWidth={3} />
          )}
        </BaseCheckbox.Indicator>
      </BaseCheckbox.Root>
      <LabelText {...{ id, label, description, hideLabel }} />
    </label>
  );
}

/** A switch that cannot be used says why, to the mouse, the keyboard and a screen reader. */
export type SwitchProps = Omit<ToggleProps, 'disabled'> & { disabledReason?: string | undefined };

/** On or off, at once: for settings that apply without a save button. In forms prefer `Checkbox`. */
export function Switch({ checked, onCheckedChange, label, description, disabledReason, name, hideLabel, className }: SwitchProps) {
  const id = useId();
  const disabled = disabledReason !== undefined;
  return (
    <DisabledReason reason={disabledReason}>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the switch inside renders the control. */}
      <label className={cn('flex items-start gap-2.5', disabled && 'text-ink-3', className)}>
        <BaseSwitch.Root
          checked={checked}
          onCheckedChange={onCheckedChange}
          disabled={disabled}
          name={name}
          aria-labelledby={`${id}-label`}
          aria-describedby={description ? id : undefined}
          className="mt-px flex h-4.5 w-8 shrink-0 items-center rounded-full border border-line-control bg-line-control px-px transition-colors data-checked:border-accent data-checked:bg-accent data-disabled:opacity-55"
        >
          <BaseSwitch.Thumb className="size-3.5 rounded-full bg-surface shadow-xs transition-transform duration-150 ease-out data-checked:translate-x-3.5 data-checked:bg-on-accent" />
        </BaseSwitch.Root>
        <LabelText {...{ id, label, description, hideLabel }} />
      </label>
    </DisabledReason>
  );
}

function LabelText({ id, label, description, hideLabel }: { id: string } & Pick<ToggleProps, 'label' | 'description' | 'hideLabel'>) {
  return (
    <span className={cn('min-w-0', hideLabel && 'sr-only')}>
      <span id={`${id}-label`} className="block text-sm">
        {label}
      </span>
      {description && (
        <span id={id} className="block text-ink-3 text-xs">
          {description}
        </span>
      )}
    </span>
  );
}

export type RadioCard<V extends string = string> = {
  value: V;
  title: ReactNode;
  description?: ReactNode;
  icon?: ReactNode;
  disabledReason?: string;
};

export type RadioCardsProps<V extends string> = {
  options: readonly RadioCard<V>[];
  value: V | null;
  onValueChange: (value: V) => void;
  /** The question, when no `Field group` asks it. */
  label?: string;
  /** Cards beside each other from the `sm` breakpoint on. */
  columns?: 1 | 2 | 3;
  name?: string;
};

const grid = { 1: '', 2: 'sm:grid-cols-2', 3: 'sm:grid-cols-3' } as const;

/** A few choices that each need a sentence. */
export function RadioCards<V extends string>({ options, value, onValueChange, label, columns = 1, name }: RadioCardsProps<V>) {
  const labelId = useFieldLabelId();
  return (
    <RadioGroup
      value={value}
      onValueChange={(next) => onValueChange(next as V)}
      name={name}
      aria-label={label}
      aria-labelledby={label ? undefined : labelId}
      className={cn('grid grid-cols-1 gap-2', grid[columns])}
    >
      {options.map((option) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: the radio inside renders the control.
        <label
          key={option.value}
          className="flex cursor-pointer gap-2.5 rounded-lg border border-line-strong bg-surface p-3 shadow-xs transition-colors hover:border-line-control has-data-checked:border-accent has-data-checked:bg-accent-soft has-data-disabled:cursor-not-allowed has-data-disabled:bg-subtle"
        >
          <Radio.Root
            value={option.value}
            disabled={Boolean(option.disabledReason)}
            className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-full border border-line-control bg-surface data-checked:border-accent data-checked:bg-accent"
          >
            <Radio.Indicator className="size-1.5 rounded-full bg-on-accent data-unchecked:hidden" />
          </Radio.Root>
          <span className="min-w-0 flex-1">
            <span className="flex items-center gap-1.5 font-medium text-sm">
              {option.icon}
              {option.title}
            </span>
            {option.description && <span className="mt-0.5 block text-ink-2 text-xs">{option.description}</span>}
            {option.disabledReason && <span className="mt-0.5 block text-ink-3 text-xs">{option.disabledReason}</span>}
          </span>
        </label>
      ))}
    </RadioGroup>
  );
}

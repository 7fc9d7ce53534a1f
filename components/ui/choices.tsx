'use client';

import { Check, Minus } from 'lucide-react';
import { type ChangeEvent, type ComponentProps, type ReactNode, useId } from 'react';
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

/** Yes or no, for forms and rows: it takes effect when the form is saved. */
export function Checkbox(props: CheckboxProps) {
  const { indeterminate, label, description, disabled, hideLabel, className } = props;
  const id = useId();
  const Mark = indeterminate ? Minus : Check;
  return (
    <label className={cn('flex items-start gap-2', hideLabel && 'p-1', disabled && 'text-ink-3', className)}>
      <span className="relative mt-0.5 flex size-4 shrink-0">
        <input
          {...controlOf(props, id)}
          ref={(box) => {
            if (box) box.indeterminate = indeterminate ?? false;
          }}
          disabled={disabled}
          className="peer size-4 appearance-none rounded-xs border border-line-control bg-surface transition-colors checked:border-accent checked:bg-accent indeterminate:border-accent indeterminate:bg-accent disabled:opacity-55"
        />
        <Mark
          aria-hidden
          className="pointer-events-none absolute inset-0 m-auto hidden size-3 text-on-accent peer-checked:block peer-indeterminate:block"
          strokeWidth={3}
        />
      </span>
      <LabelText {...{ id, label, description, hideLabel }} />
    </label>
  );
}

/** A switch that cannot be used says why, to the mouse, the keyboard and a screen reader. */
export type SwitchProps = Omit<ToggleProps, 'disabled'> & { disabledReason?: string | undefined };

/** On or off, at once: for settings that apply without a save button. In forms prefer `Checkbox`. */
export function Switch(props: SwitchProps) {
  const { label, description, disabledReason, hideLabel, className } = props;
  const id = useId();
  const disabled = disabledReason !== undefined;
  return (
    <DisabledReason reason={disabledReason}>
      <label className={cn('flex items-start gap-2.5', disabled && 'text-ink-3', className)}>
        <input
          {...controlOf(props, id)}
          // biome-ignore lint/a11y/useAriaPropsForRole: a checkbox tells its state by itself.
          role="switch"
          disabled={disabled}
          className="mt-px flex h-4.5 w-8 shrink-0 appearance-none items-center rounded-full border border-line-control bg-line-control px-px transition-colors before:size-3.5 before:rounded-full before:bg-surface before:shadow-xs before:transition-transform before:duration-150 before:ease-out checked:border-accent checked:bg-accent checked:before:translate-x-3.5 checked:before:bg-on-accent disabled:opacity-55"
        />
        <LabelText {...{ id, label, description, hideLabel }} />
      </label>
    </DisabledReason>
  );
}

/** What a checkbox and a switch tell the browser alike. */
const controlOf = ({ checked, onCheckedChange, name, description }: Omit<ToggleProps, 'disabled'>, id: string) => ({
  type: 'checkbox',
  checked,
  onChange: (event: ChangeEvent<HTMLInputElement>) => onCheckedChange(event.target.checked),
  name,
  'aria-labelledby': `${id}-label`,
  'aria-describedby': description ? id : undefined,
});

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
  const group = useId();
  return (
    <div
      role="radiogroup"
      aria-label={label}
      aria-labelledby={label ? undefined : labelId}
      className={cn('grid grid-cols-1 gap-2', grid[columns])}
    >
      {options.map((option) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: the radio inside renders the control.
        <label
          key={option.value}
          className="flex cursor-pointer gap-2.5 rounded-lg border border-line-strong bg-surface p-3 shadow-xs transition-colors hover:border-line-control has-checked:border-accent has-checked:bg-accent-soft has-disabled:cursor-not-allowed has-disabled:bg-subtle"
        >
          <RadioMark
            name={name ?? group}
            checked={option.value === value}
            onChange={() => onValueChange(option.value)}
            disabled={Boolean(option.disabledReason)}
          />
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
    </div>
  );
}

/** The round button of one choice; those of one question share their `name`. */
export const RadioMark = (props: ComponentProps<'input'> & { name: string }) => (
  <input
    {...props}
    type="radio"
    className="mt-0.5 flex size-4 shrink-0 appearance-none items-center justify-center rounded-full border border-line-control bg-surface before:hidden before:size-1.5 before:rounded-full before:bg-on-accent checked:border-accent checked:bg-accent checked:before:block"
  />
);

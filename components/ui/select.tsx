'use client';

import { ChevronsUpDown } from 'lucide-react';
import { cn } from './cn.ts';
import { useFieldControl, useFieldLabelId } from './field.tsx';
import { controlHeight } from './input.tsx';
import { onDemand } from './on-demand.ts';
import { usePopupTrigger } from './popup-trigger.ts';
import type { SelectOption } from './select-popup.tsx';

const popup = onDemand(() => import('./select-popup.tsx').then((module) => module.SelectPopup));

export type { SelectOption } from './select-popup.tsx';

export type SelectProps<V extends string> = {
  options: readonly SelectOption<V>[];
  value: V | null;
  onValueChange: (value: V) => void;
  placeholder?: string;
  /** The name, when no `Field` gives one. */
  label?: string;
  size?: 'sm' | 'md' | 'lg';
  disabled?: boolean | undefined;
  className?: string;
  onBlur?: () => void;
};

/** A choice of one from a list; the list is fetched when somebody comes near. */
export function Select<V extends string>(props: SelectProps<V>) {
  const { options, value, onValueChange, placeholder = 'Choose…', label, size = 'md', disabled, className, onBlur } = props;
  const wired = useFieldControl();
  const labelId = useFieldLabelId();
  const chosen = options.find((option) => option.value === value);
  const { button, state } = usePopupTrigger(
    <button
      type="button"
      // biome-ignore lint/a11y/useAriaPropsForRole: the hook adds what tells whether it is open.
      role="combobox"
      {...wired}
      aria-label={label}
      aria-labelledby={label ? undefined : labelId}
      disabled={disabled}
      onBlur={onBlur}
      className={cn(
        'field-surface flex w-full min-w-0 select-none items-center justify-between gap-2 px-2.5 text-left',
        controlHeight[size],
        className,
      )}
    >
      <span className="flex min-w-0 items-center gap-2 truncate">
        {chosen?.icon}
        <span className={cn('truncate', !chosen && 'text-ink-3')}>{chosen?.label ?? placeholder}</span>
      </span>
      <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-3" />
    </button>,
    'listbox',
    popup.fetch,
  );
  const Popup = popup.use(state?.open ?? false);
  return (
    <>
      {button}
      {Popup && state && (
        <Popup
          state={state}
          name={label ? { 'aria-label': label } : { 'aria-labelledby': labelId }}
          options={options}
          value={value}
          onValueChange={(next) => onValueChange(next as V)}
        />
      )}
    </>
  );
}

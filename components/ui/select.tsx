'use client';

import { Select as Base } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cn } from './cn.ts';
import { useFieldControl, useFieldLabelId } from './field.tsx';
import { controlHeight } from './input.tsx';
import { useLayerHost } from './layer-host.ts';
import { listItem } from './list-item.ts';

export type SelectOption<V extends string = string> = {
  value: V;
  label: string;
  /** A second line in the list. */
  detail?: string;
  icon?: ReactNode;
  disabled?: boolean;
};

export type SelectProps<V extends string> = {
  options: readonly SelectOption<V>[];
  value: V | null;
  onValueChange: (value: V) => void;
  placeholder?: string;
  /** The name, when no `Field` gives one. */
  label?: string;
  size?: 'sm' | 'md' | 'lg';
  name?: string;
  disabled?: boolean | undefined;
  className?: string;
  onBlur?: () => void;
};

export function Select<V extends string>(props: SelectProps<V>) {
  const { options, value, onValueChange, placeholder = 'Choose…', label, size = 'md', name, disabled, className, onBlur } = props;
  const wired = useFieldControl();
  const labelId = useFieldLabelId();
  const host = useLayerHost();
  const chosen = options.find((option) => option.value === value);
  return (
    <Base.Root items={options} value={value} onValueChange={(next) => next !== null && onValueChange(next)} name={name} disabled={disabled}>
      <Base.Trigger
        {...wired}
        aria-label={label}
        aria-labelledby={label ? undefined : labelId}
        onBlur={onBlur}
        className={cn(
          'field-surface flex w-full min-w-0 select-none items-center justify-between gap-2 px-2.5 text-left',
          controlHeight[size],
          className,
        )}
      >
        <span className="flex min-w-0 items-center gap-2 truncate">
          {chosen?.icon}
          <Base.Value placeholder={placeholder} className="truncate data-placeholder:text-ink-3" />
        </span>
        <Base.Icon>
          <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal container={host}>
        <Base.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-50 outline-none">
          <Base.Popup className="popup-motion popup-surface max-h-(--available-height) min-w-(--anchor-width) max-w-[min(26rem,var(--available-width))] overflow-y-auto p-1">
            <Base.List>
              {options.map((option) => (
                <Base.Item key={option.value} value={option.value} disabled={option.disabled} className={listItem}>
                  {option.icon}
                  <span className="min-w-0 flex-1">
                    <Base.ItemText className="block truncate">{option.label}</Base.ItemText>
                    {option.detail && <span className="block text-ink-3 text-xs">{option.detail}</span>}
                  </span>
                  <Base.ItemIndicator>
                    <Check aria-hidden className="size-4 text-accent-ink" />
                  </Base.ItemIndicator>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

'use client';

import { Combobox as Base } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown, X } from 'lucide-react';
import { cn } from './cn.ts';
import { chipStyle, multiStyle, singleStyle } from './combobox-styles.ts';
import { useFieldControl } from './field.tsx';
import { useLayerHost } from './layer-host.ts';
import { listItem } from './list-item.ts';
import type { SelectOption } from './select-popup.tsx';
import { Spinner } from './spinner.tsx';

/** How somebody came to the field before its code was there: it goes on from there. */
export type Begun = 'focus' | 'open' | undefined;

type Shared = {
  options: readonly SelectOption[];
  placeholder?: string;
  /** The name, when no `Field` gives one. */
  label?: string;
  emptyText?: string;
  /** Options are being fetched for what was typed. */
  loading?: boolean;
  /** Given, the caller filters (server search) and the list is shown as it comes. */
  onQueryChange?: (query: string) => void;
  disabled?: boolean | undefined;
  className?: string;
};

export type ComboboxProps = Shared & { value: string | null; onValueChange: (value: string | null) => void };

/** The field of `Combobox` and its list, once somebody comes to it. */
export function ComboboxView({ value, onValueChange, begun, ...shared }: ComboboxProps & { begun: Begun }) {
  const { options, placeholder = 'Search…', label, className } = shared;
  const wired = useFieldControl();
  const chosen = options.find((option) => option.value === value) ?? null;
  return (
    <Base.Root value={chosen} onValueChange={(next) => onValueChange(next?.value ?? null)} {...rootOf(shared, begun)}>
      <Base.InputGroup className={cn(singleStyle, className)}>
        <Base.Input
          {...wired}
          // Only where the focus was already.
          autoFocus={begun !== undefined}
          aria-label={label}
          placeholder={placeholder}
          className="h-full min-w-0 flex-1 bg-transparent pl-2.5 outline-none placeholder:text-ink-3"
        />
        <Base.Clear
          aria-label="Clear"
          className="inline-flex size-6 shrink-0 items-center justify-center rounded-sm text-ink-3 hover:text-ink"
        >
          <X aria-hidden className="size-3.5" />
        </Base.Clear>
        <Base.Trigger
          aria-label="Show options"
          className="mr-1 inline-flex size-6 items-center justify-center rounded-sm text-ink-3 hover:text-ink"
        >
          <ChevronsUpDown aria-hidden className="size-3.5" />
        </Base.Trigger>
      </Base.InputGroup>
      <OptionList {...shared} />
    </Base.Root>
  );
}

export type MultiComboboxProps = Shared & { values: readonly string[]; onValuesChange: (values: string[]) => void };

/** The field of `MultiCombobox` and its list, once somebody comes to it. */
export function MultiComboboxView({ values, onValuesChange, begun, ...shared }: MultiComboboxProps & { begun: Begun }) {
  const { options, placeholder = 'Add…', label, className } = shared;
  const wired = useFieldControl();
  const chosen = values.map((value) => options.find((option) => option.value === value) ?? { value, label: value });
  return (
    <Base.Root
      multiple
      value={chosen}
      onValueChange={(next) => onValuesChange(next.map((option) => option.value))}
      {...rootOf(shared, begun)}
    >
      <Base.InputGroup className={cn(multiStyle, className)}>
        <Base.Chips className="contents">
          {chosen.map((option) => (
            <Base.Chip key={option.value} aria-label={option.label} className={chipStyle}>
              <span className="truncate">{option.label}</span>
              <Base.ChipRemove
                aria-label={`Remove ${option.label}`}
                className="inline-flex size-6 items-center justify-center rounded-sm text-ink-3 hover:text-ink"
              >
                <X aria-hidden className="size-3" />
              </Base.ChipRemove>
            </Base.Chip>
          ))}
          <Base.Input
            {...wired}
            autoFocus={begun !== undefined}
            aria-label={label}
            placeholder={chosen.length ? '' : placeholder}
            className="h-6 min-w-16 flex-1 bg-transparent px-1.5 outline-none placeholder:text-ink-3"
          />
        </Base.Chips>
      </Base.InputGroup>
      <OptionList {...shared} />
    </Base.Root>
  );
}

/** How both kinds find, compare and open. */
const rootOf = ({ options, onQueryChange, disabled }: Shared, begun: Begun) => ({
  items: options,
  onInputValueChange: onQueryChange,
  filter: onQueryChange ? null : undefined,
  isItemEqualToValue: (a: SelectOption, b: SelectOption) => a.value === b.value,
  disabled,
  autoHighlight: true,
  defaultOpen: begun === 'open',
});

function OptionList({ loading, emptyText = 'No results.' }: Shared) {
  const host = useLayerHost();
  return (
    <Base.Portal container={host}>
      <Base.Positioner sideOffset={4} className="z-50 outline-none">
        <Base.Popup className="popup-motion popup-surface max-h-[min(22rem,var(--available-height))] w-(--anchor-width) min-w-56 overflow-y-auto p-1">
          <Base.Status className="text-ink-3 text-xs">
            {loading && (
              <span className="flex items-center gap-2 p-2">
                <Spinner /> Searching…
              </span>
            )}
          </Base.Status>
          <Base.Empty className="text-ink-3 text-sm">{!loading && <span className="block p-2">{emptyText}</span>}</Base.Empty>
          <Base.List>
            {(option: SelectOption) => (
              <Base.Item key={option.value} value={option} disabled={option.disabled} className={listItem}>
                {option.icon}
                <span className="min-w-0 flex-1">
                  <span className="block truncate">{option.label}</span>
                  {option.detail && <span className="block truncate text-ink-3 text-xs">{option.detail}</span>}
                </span>
                <Base.ItemIndicator>
                  <Check aria-hidden className="size-4 text-accent-ink" />
                </Base.ItemIndicator>
              </Base.Item>
            )}
          </Base.List>
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  );
}

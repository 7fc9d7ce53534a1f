'use client';

import { ChevronsUpDown } from 'lucide-react';
import { type Dispatch, type ReactNode, type SetStateAction, useState } from 'react';
import { cn } from './cn.ts';
import { chipStyle, multiStyle, singleStyle } from './combobox-styles.ts';
import type { Begun, ComboboxProps, MultiComboboxProps } from './combobox-view.tsx';
import { useFieldControl } from './field.tsx';
import { onDemand } from './on-demand.ts';

const view = onDemand(() => import('./combobox-view.tsx'));

/** Type to find one of many. */
export function Combobox(props: ComboboxProps) {
  const [begun, setBegun] = useState<Begun>();
  const View = view.use(begun !== undefined)?.ComboboxView;
  if (View) return <View {...props} begun={begun} />;
  const chosen = props.options.find((option) => option.value === props.value);
  return (
    <div className={cn(singleStyle, props.className)}>
      <Standing
        {...props}
        onBegin={setBegun}
        value={chosen?.label ?? ''}
        placeholder={props.placeholder ?? 'Search…'}
        className="h-full pl-2.5"
      />
      <span className="mr-1 inline-flex size-6 items-center justify-center text-ink-3">
        <ChevronsUpDown aria-hidden className="size-3.5" />
      </span>
    </div>
  );
}

/** Type to find, choose several; the chosen stand as chips that Backspace removes. */
export function MultiCombobox(props: MultiComboboxProps) {
  const [begun, setBegun] = useState<Begun>();
  const View = view.use(begun !== undefined)?.MultiComboboxView;
  if (View) return <View {...props} begun={begun} />;
  const { values, options, placeholder = 'Add…' } = props;
  return (
    <div className={cn(multiStyle, props.className)}>
      {values.map((value) => (
        <span key={value} className={cn(chipStyle, 'pr-6')}>
          <span className="truncate">{options.find((option) => option.value === value)?.label ?? value}</span>
        </span>
      ))}
      <Standing {...props} onBegin={setBegun} value="" placeholder={values.length ? '' : placeholder} className="h-6 min-w-16 px-1.5" />
    </div>
  );
}

type StandingProps = {
  label?: string;
  disabled?: boolean | undefined;
  value: string;
  placeholder: string;
  className: string;
  onBegin: Dispatch<SetStateAction<Begun>>;
};

/** The field until its code is there: who comes to it first fetches that at once and goes on in the real one. */
function Standing({ label, disabled, value, placeholder, className, onBegin }: StandingProps): ReactNode {
  const wired = useFieldControl();
  return (
    <input
      {...wired}
      role="combobox"
      aria-expanded={false}
      aria-haspopup="listbox"
      aria-label={label}
      readOnly
      disabled={disabled}
      value={value}
      placeholder={placeholder}
      onPointerEnter={view.fetch}
      // A press brings the focus with it, and stays a press.
      onFocus={() => onBegin((now) => now ?? 'focus')}
      onPointerDown={() => onBegin('open')}
      onBlur={() => onBegin(undefined)}
      className={cn('min-w-0 flex-1 bg-transparent outline-none placeholder:text-ink-3', className)}
    />
  );
}

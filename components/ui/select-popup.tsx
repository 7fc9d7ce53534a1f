'use client';

import { CSPProvider } from '@base-ui/react/csp-provider';
import { Select as Base } from '@base-ui/react/select';
import { Check } from 'lucide-react';
import { type ReactNode, useContext } from 'react';
import { Nonce } from '#components/theme/csp-nonce.tsx';
import { useLayerHost } from './layer-host.ts';
import { listItem } from './list-item.ts';
import { closing, type PopupState } from './popup-trigger.ts';

export type SelectOption<V extends string = string> = {
  value: V;
  label: string;
  /** A second line in the list. */
  detail?: string;
  icon?: ReactNode;
  disabled?: boolean;
};

export type SelectPopupProps = {
  state: PopupState;
  name: { 'aria-label'?: string; 'aria-labelledby'?: string | undefined };
  options: readonly SelectOption[];
  value: string | null;
  onValueChange: (value: string) => void;
};

/** The options of a select, beside its button. */
export function SelectPopup({ state, name, options, value, onValueChange }: SelectPopupProps) {
  const host = useLayerHost();
  return (
    <CSPProvider nonce={useContext(Nonce)}>
      <Base.Root
        items={options}
        value={value}
        onValueChange={(next) => next !== null && onValueChange(next)}
        open={state.open}
        onOpenChange={closing(state)}
      >
        <Base.Portal container={host}>
          <Base.Positioner anchor={state.anchor} sideOffset={4} alignItemWithTrigger={false} className="z-50 outline-none">
            <Base.Popup className="popup-motion popup-surface max-h-(--available-height) min-w-(--anchor-width) max-w-[min(26rem,var(--available-width))] overflow-y-auto p-1">
              <Base.List id={state.id} {...name}>
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
    </CSPProvider>
  );
}

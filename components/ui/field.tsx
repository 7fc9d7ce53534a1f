'use client';

import { CircleAlert } from 'lucide-react';
import { createContext, type ReactNode, useContext, useId } from 'react';
import { capitalize } from './capitalize.ts';
import { cn } from './cn.ts';

type FieldWiring = { id: string; describedBy: string | undefined; labelledBy: string; invalid: boolean; required: boolean };
const FieldContext = createContext<FieldWiring | undefined>(undefined);

export type FieldProps = {
  label: ReactNode;
  /** One sentence of help, read out with the control. */
  hint?: ReactNode;
  error?: ReactNode;
  required?: boolean;
  /** Marks the field as optional in words; use it where most fields are required. */
  optional?: boolean;
  /** A small action at the end of the label line, e.g. "Generate". */
  action?: ReactNode;
  /** Several controls under one question (radio cards, checkboxes): rendered as a fieldset. */
  group?: boolean;
  hideLabel?: boolean;
  className?: string;
  children: ReactNode;
};

/** Label, hint and error around one control. The controls of this folder take their id and aria attributes from here by themselves. */
export function Field({ label, hint, error, required, optional, action, group, hideLabel, className, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const labelId = `${id}-label`;
  const describedBy = [hint && hintId, error && errorId].filter(Boolean).join(' ') || undefined;
  const wiring = { id, describedBy, labelledBy: labelId, invalid: Boolean(error), required: Boolean(required) };
  const name = (
    <>
      {label}
      {optional && <span className="ml-1.5 font-normal text-ink-3">optional</span>}
    </>
  );
  const Wrapper = group ? 'fieldset' : 'div';
  return (
    <FieldContext value={wiring}>
      <Wrapper className={cn('flex min-w-0 flex-col gap-1.5', className)} aria-describedby={group ? describedBy : undefined}>
        <div className={cn('flex min-h-5.5 items-end justify-between gap-2', hideLabel && 'sr-only')}>
          {group ? (
            <legend id={labelId} className="float-left font-medium text-ink text-sm">
              {name}
            </legend>
          ) : (
            <label id={labelId} htmlFor={id} className="font-medium text-ink text-sm">
              {name}
            </label>
          )}
          {action}
        </div>
        {children}
        {hint && (
          <p id={hintId} className="text-ink-3 text-xs">
            {hint}
          </p>
        )}
        <FieldError id={errorId}>{error}</FieldError>
      </Wrapper>
    </FieldContext>
  );
}

/** The live region stays mounted, so that a message appearing later is announced. */
function FieldError({ id, children }: { id: string; children: ReactNode }) {
  return (
    <p id={id} aria-live="polite" className={cn('flex items-start gap-1 text-bad-ink text-xs', !children && 'hidden')}>
      {children && (
        <>
          <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          {/* Schemas speak as the rest of a sentence that starts with the field (`name: is required`). */}
          <span className="min-w-0 [overflow-wrap:anywhere]">{typeof children === 'string' ? capitalize(children) : children}</span>
        </>
      )}
    </p>
  );
}

type Wireable = { id?: string | undefined; 'aria-describedby'?: string | undefined; 'aria-invalid'?: unknown; 'aria-required'?: unknown };

/** The attributes a control takes from the `Field` around it; what the caller passes wins. Outside a field it changes nothing. */
export function useFieldControl(own: Wireable = {}) {
  const field = useContext(FieldContext);
  if (!field)
    return { id: own.id, 'aria-describedby': own['aria-describedby'], 'aria-invalid': own['aria-invalid'] as boolean | undefined };
  return {
    id: own.id ?? field.id,
    'aria-describedby': [own['aria-describedby'], field.describedBy].filter(Boolean).join(' ') || undefined,
    'aria-invalid': (own['aria-invalid'] as boolean | undefined) ?? (field.invalid || undefined),
    'aria-required': (own['aria-required'] as boolean | undefined) ?? (field.required || undefined),
  };
}

/** The id of the label, for composite controls that are named by `aria-labelledby`. */
export const useFieldLabelId = (): string | undefined => useContext(FieldContext)?.labelledBy;

'use client';

import type { ComponentProps, ReactNode } from 'react';
import { cn } from './cn.ts';
import { useFieldControl } from './field.tsx';

export type InputProps = Omit<ComponentProps<'input'>, 'size' | 'prefix'> & {
  /** Fixed text inside the left edge, e.g. `https://`. */
  prefix?: ReactNode;
  suffix?: ReactNode;
  icon?: ReactNode;
  /** Identifiers, hosts, keys: a fixed-width face, no spell checking. */
  mono?: boolean;
  size?: 'sm' | 'md' | 'lg';
};

export const controlHeight = { sm: 'h-7', md: 'h-8', lg: 'h-10' } as const;

/** A line of text, with what stands before and after it inside its frame. */
export function Input({ prefix, suffix, icon, mono, size = 'md', className, ...rest }: InputProps) {
  const wired = useFieldControl(rest);
  const technical = mono ? { spellCheck: false, autoCapitalize: 'none', autoCorrect: 'off' } : {};
  if (!prefix && !suffix && !icon) {
    return (
      <input
        {...technical}
        {...rest}
        {...wired}
        className={cn('field-surface w-full min-w-0 px-2.5', controlHeight[size], mono && 'font-mono', className)}
      />
    );
  }
  return (
    <span className={cn('field-surface flex w-full min-w-0 items-center', controlHeight[size], className)}>
      {icon && <span className="pl-2.5 text-ink-3 [&_svg]:size-4">{icon}</span>}
      {prefix && <span className="shrink-0 select-none whitespace-nowrap pl-2.5 text-ink-3">{prefix}</span>}
      <input
        {...technical}
        {...rest}
        {...wired}
        className={cn(
          'h-full w-full min-w-0 bg-transparent px-2.5 outline-none placeholder:text-ink-3',
          prefix && 'pl-0.5',
          icon && 'pl-2',
          mono && 'font-mono',
        )}
      />
      {suffix && <span className="flex shrink-0 items-center whitespace-nowrap pr-2.5 text-ink-3">{suffix}</span>}
    </span>
  );
}

export type TextareaProps = ComponentProps<'textarea'> & { mono?: boolean };

/** Grows with its text up to half the window. */
export function Textarea({ mono, className, rows = 3, ...rest }: TextareaProps) {
  const wired = useFieldControl(rest);
  return (
    <textarea
      rows={rows}
      spellCheck={!mono}
      {...rest}
      {...wired}
      className={cn(
        'field-surface field-sizing-content max-h-[50vh] min-h-16 w-full resize-y px-2.5 py-1.5',
        mono && 'font-mono text-xs leading-5',
        className,
      )}
    />
  );
}

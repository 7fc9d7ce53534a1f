'use client';

import { useContext } from 'react';
import { cn } from './cn.ts';
import { environmentLabel, InTestContext } from './environment-label.ts';

export type EnvironmentDotProps = {
  name: string;
  /** `#rrggbb`, as the environment has it. */
  color: string;
  /** Only the dot; the name is read out. */
  bare?: boolean;
  className?: string;
};

/** An environment by its color and its name, never by color alone. In Test the dot is hollow. */
export function EnvironmentDot({ name: given, color, bare, className }: EnvironmentDotProps) {
  const inTest = useContext(InTestContext);
  const name = environmentLabel(given, inTest);
  // The colour is data: anything but a hex colour is not put into a style.
  const safe = /^#[0-9a-f]{6}$/i.test(color) ? color : undefined;
  return (
    <span title={bare ? name : undefined} className={cn('inline-flex min-w-0 max-w-full items-center gap-1.5', className)}>
      <span
        aria-hidden
        className={cn('keep-fill size-2.5 shrink-0 rounded-full', inTest ? 'border-2 border-accent' : 'border border-ink/25 bg-accent')}
        style={inTest ? { borderColor: safe } : { backgroundColor: safe }}
      />
      <span className={bare ? 'sr-only' : 'truncate'}>{name}</span>
    </span>
  );
}

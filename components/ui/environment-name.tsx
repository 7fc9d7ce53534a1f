'use client';

import { useEnvironmentLabel } from './environment-label.ts';

/** An environment's name in a table cell, marked inside Test; a dash for none. */
export function EnvironmentName({ name, none = '—' }: { name: string | null; none?: string }) {
  const label = useEnvironmentLabel();
  return name ? label(name) : <span className="text-ink-3">{none}</span>;
}

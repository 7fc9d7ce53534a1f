'use client';

import { useSyncExternalStore } from 'react';
import type { Space } from '#components/ui/test-band.tsx';

/** A value of an answer that no later call shows again. `from` is a sentence on where it belongs: the page it is shown on may be another's. */
export type Handed = {
  name: string;
  value: string;
  person: string;
  from: string;
  /** Of an API key that was made on a page of the dashboard: what its card tells besides. */
  made?: { name: string; key_id: string; replaced?: boolean; api_url: string };
};

// Above every page, for the call outlives the page it was made on: who closes the pane or goes elsewhere meanwhile still gets what is shown once.
let held: readonly Handed[] = [];
let onTheirWay = 0;
const readers = new Set<() => void>();

/** Carries out a call whose answer holds such values. Until it is answered, the tab asks before it is left: they would be lost. */
export async function handingOver<T>(call: () => Promise<T>): Promise<T> {
  onTheirWay++;
  changed();
  try {
    return await call();
  } finally {
    onTheirWay--;
    changed();
  }
}

/** Keeps values for their person, one after another, until each is stored. */
export function handOver(values: readonly Handed[]): void {
  if (values.length === 0) return;
  held = [...held, ...values];
  changed();
}

/** Where a value belongs, in words. */
export const madeIn = ({ slug, space }: { slug: string; space: Space }): string =>
  `Created in ${space === 'test' ? 'Test' : 'Live'} for ${slug}.`;

/** Drops a value that its person has stored. */
export function stored(one: Handed): void {
  held = held.filter((other) => other !== one);
  changed();
}

/** Drops all of them: the tab is left. */
export function dropHanded(): void {
  held = [];
  changed();
}

/** What is to be handed to this person next. */
export const useHanded = (person: string): Handed | undefined =>
  useSyncExternalStore(
    (notify) => {
      readers.add(notify);
      return () => readers.delete(notify);
    },
    () => nextFor(person),
    () => undefined,
  );

/** As `useHanded` has it. */
export const nextFor = (person: string): Handed | undefined => held.find((one) => one.person === person);

const ask = (event: Event) => event.preventDefault();

function changed(): void {
  if (held.length + onTheirWay > 0) window.addEventListener('beforeunload', ask);
  else window.removeEventListener('beforeunload', ask);
  for (const notify of readers) notify();
}

import { Layers } from 'lucide-react';

/** The collection's colour behind its sign; without one, the plain sign. */
export function CollectionMark({ color }: { color: string | null }) {
  // The colour is data: anything but a hex colour is not put into a style.
  const safe = color && /^#[0-9a-f]{6}$/i.test(color) ? color : undefined;
  return (
    <span
      aria-hidden
      className="inline-flex size-7 shrink-0 items-center justify-center rounded-md border border-line-strong bg-subtle text-ink-2"
    >
      <Layers className="size-4" style={safe ? { color: `color-mix(in oklab, ${safe} 70%, var(--ink))` } : undefined} />
    </span>
  );
}

// How messages of the service write numbers: the same way everywhere, whichever part refuses.

/** `4,096`. */
export const grouped = (n: number): string => n.toLocaleString('en-US');

const UNITS = [
  [1024 * 1024, 'MiB'],
  [1024, 'KiB'],
] as const;

/** `1 MiB`, `64 KiB`, `1,000 bytes`: in the largest unit that the size is a whole number of. */
export function sizeText(bytes: number): string {
  const [unit, name] = UNITS.find(([size]) => bytes >= size && bytes % size === 0) ?? [1, 'bytes'];
  return `${grouped(bytes / unit)} ${name}`;
}

/** Whether two lists hold the same names in the same order. */
export function sameNames(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true;
  // A row that waited on the disk may be of a release without them.
  if (!a || !b || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

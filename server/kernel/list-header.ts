/**
 * The members of a list header, without the white space around them; empty ones, as of a trailing comma, count for nothing (RFC 9110 §5.6.1). Not for what frames a
 * message: lists of lengths and transfer codings are refused.
 */
export function members(text: string | readonly string[] | null | undefined): string[] {
  if (text === null || text === undefined) return [];
  const all = typeof text === 'string' ? text : text.join(',');
  return all
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
}

import { type Refused, refused } from './refusal.ts';

// Servlet containers cut a segment at its semicolon before they look at it: to them `..;x` is `..`.
const SMUGGLED = /(?:^|[/\\])\.\.?(?:[/\\;]|$)|[\0\r\n]/;

/**
 * No segment may be `.` or `..`, however it is written, or the upstream could be led out of the target's base path. Everything else
 * (double slashes, %2F, a trailing slash) is kept byte for byte. `encodesSegments`: the path was made by us, with each value encoded as one segment, so an
 * encoded slash in it separates nothing.
 */
export function checkForwardPath(path: string, encodesSegments = false): Refused | undefined {
  if (!path.includes('.') && !path.includes('%')) return undefined;
  const parts = encodesSegments ? path.split('/').map((segment) => decoded(segment).replaceAll(/[/\\]/g, '_')) : [decoded(path)];
  return parts.some((part) => SMUGGLED.test(part))
    ? refused('invalid_path', 'The path must not contain . or .. segments, or control characters.')
    : undefined;
}

const decoded = (text: string): string =>
  text.includes('%') ? text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))) : text;

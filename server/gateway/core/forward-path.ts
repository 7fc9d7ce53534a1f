import { type Refused, refused } from './refusal.ts';

// Servlet containers cut a segment at its semicolon before they look at it: to them `..;x` is `..`.
const SMUGGLED = /(?:^|[/\\])\.\.?(?:[/\\;]|$)|[\0\r\n]/;

/**
 * No segment may be `.` or `..`, however it is written, or the upstream could be led out of the target's base path. Everything else
 * (double slashes, %2F, a trailing slash) is kept byte for byte.
 */
export function checkForwardPath(path: string): Refused | undefined {
  if (!path.includes('.') && !path.includes('%')) return undefined;
  const decoded = path.includes('%')
    ? path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : path;
  return SMUGGLED.test(decoded) ? refused('invalid_path', 'The path must not contain . or .. segments, or control characters.') : undefined;
}

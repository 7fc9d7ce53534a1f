import { digest } from '#server/crypto/tokens.ts';

// Names of tools (interface rule 52 §2.2, §5.6).

export const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const LONGEST = 128;
const SEPARATOR = '__';

/** What a tool of a server is called in the aggregate of all servers. A name that would be too long is cut, and told apart by a digest. */
export function aggregateName(serverSlug: string, tool: string): string {
  const name = `${serverSlug}${SEPARATOR}${tool}`;
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 6)}${digest(name).toString('hex').slice(0, 6)}`;
}

/** The server that an aggregate name begins with, and what follows: the tool's name unless that was cut. A slug has no underscore, so the first is the separator. */
export function splitAggregateName(name: string): { serverSlug: string; rest: string } | undefined {
  const at = name.indexOf(SEPARATOR);
  return at <= 0 ? undefined : { serverSlug: name.slice(0, at), rest: name.slice(at + SEPARATOR.length) };
}

import type { StoredPayload } from '#server/domain/request-logs/payloads/stored.shared.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';

type Payload = { request: StoredPayload | null; response: StoredPayload | null };

/** Both sides of a payload as text: headers, then the body, JSON indented. */
export function payloadText({ request, response }: Payload): string {
  return [...(request ? [sideText('Request', request)] : []), ...(response ? [sideText('Response', response)] : [])].join('\n\n');
}

function sideText(title: string, { headers, body, encoding }: StoredPayload): string {
  const head = [`— ${title} —`, ...headers.map(({ name, value }) => `${name}: ${value}`)].join('\n');
  return `${head}\n\n${body === null ? '(no body)' : encoding === 'base64' ? '(binary: download it as a file)' : indented(body)}`;
}

/** A body that was cut off, or is no JSON, stays as it is. */
export function indented(body: string): string {
  try {
    return JSON.stringify(parseExact(body), null, 2);
  } catch {
    return body;
  }
}
